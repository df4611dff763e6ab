# What ctest runs under sanitizers. These are there for what the tests touch, and not for what they count
# or what documents say; each takes ten times as long there. So tests that take long and reach what others
# reach run without sanitizers only. Started by hand, a test program runs all of its tests in any build.
# tests/code/left_out_test.cc holds these names against the sources.

# Memory that stays bounded, by counts: RemembersAMemoryUsedWholeThroughSweeps and HazardTrackerProperty.* sweep, too.
set(left_out_of_encoder_tests
  HazardTracker.StaysBoundedOnMillionsOfNewRangesWithBarriers
  HazardTracker.StaysBoundedOnAnEpochThatFillsMemoryPieceByPiece
  HazardTracker.KeepsManyRangesThatKeepComingBack
  QueueTracker.HoldsBoundedMemoryOnRangesThatNeverComeAgain
  # Faults of encoders, each until a program shows it: MutantEncoders.DifferFromARightEncoderByTheirFaultAlone runs them all.
  MutantEncoders.ShowTheirFaultOnRandomPrograms)

set(left_out_of_simulator_tests
  # Programs of hundreds of signals: OpenMarks.JudgesWhatMoreSignalsLieBetweenThanThereAreMarks.
  OpenMarks.SaysTheSameWhereSignalsTakeTurns
  # All of the corpus, by judges that take long for each: random programs by the same judges.
  FindRepairs.SeparatesThePairInTheCorpus
  FindAllHazards.AreThoseOnTheCorpus
  QueueOrder.AgreesWithASearchOfChainsOnTheCorpus
  LifetimesProperty.AgreeWithTheLedgerOnTheCorpus
  # Faults of the check, each until a program shows it: CacheMachine.*, DecidingRuns.*, LifetimesProperty.*.
  Mutants/MutantChecks.*
  MutantLifetimes.AreContradictedByTheLedger
  # Long recorded streams: GgmlMetal.PlacesTheBarriersOfTheRecordedEncoder and the other numbers of the table.
  NoneEncoder.LeavesTheRecordedStreamFullOfHazards
  InterlockEncoder.PlacesTheMinimumOnRecordedStreams
  InterlockScoped.PlacesTheBarriersOfInterlockOnRecordedStreams
  RecordedStreams.OfALongMetalRunHaveBarriersThatNothingNeeds
  RecordedStreams.OfMetalHaveBarriersThatNothingNeeds
  RecordedStreams.WithoutBarriersHaveTheHazardousPairsOfTheTable
  # Wide graphs and long counts: WideGraphs.HaveTheHazardsOfTheirParts, and what CountTraces.* has besides.
  WideGraphs.GetAVerdict
  CountTraces.KnowsFamiliesOfGraphs
  # What a document says, of all of the corpus.
  JsonDocument.NamesTheKeysThatReportsOfTheCorpusHave
  JsonDocument.NamesTheKindsOfFindings)

# Pages, and the schemas that others publish: the same text in each build.
set(left_out_of_cli_tests
  BugsDocument.* CampaignsDocument.* Documents.* FixDocument.* Pages/QueueDocument.* ShowDocument.* Stories.*
  Sarif.KeepsItsSchemaForCampaigns Sarif.KeepsItsSchemaForAllOfTheCorpus Sarif.SchemaRefusesWhatTheStandardDoesNotHave
  # Hundreds of programs, so that an encoder goes wrong: a dozen take the same way.
  FuzzCommand.FindsWhatAnEncoderForSeveralQueuesMisses
  GuidedCampaigns.ReachABranchThatOnlyMutantsReach
  GuidedCampaigns.SayWhatTheyReachedAndHowAFindIsHadAgain
  ConformCommand.RefutesARingInPython
  Campaigns.TellALogHowFarTheyAre
  Backends.FuzzedProgramsExecuteOnADeviceToo
  # Parts that are merged: Campaigns.AreMergedFromTheirShards.
  ExternalPlanner.IsMergedByWhoNamesIt
  ExternalEncoderOption.IsMergedByWhoNamesIt
  Reports.OfMergedShardsAreThoseOfOneCampaign
  Campaigns.ThatAreMergedExecuteNothingThatAJournalNames
  # Diffs of the corpus: FixCommand.PrintsDiffsThatApplyInARepository.
  FixCommand.PrintsDiffsThatApply
  FixCommand.PrintsDiffsOfManyLinesThatApply
  CheckCommand.WritesLinesThatHoldForEveryProgramOfTheCorpus
  # One signal does for three.
  InterruptedCampaigns.GoOnAsTheShardThatTheyWere
  Of/Signal.EndsWithTheSummaryAndTheCommandThatGoesOn/1
  Of/Signal.EndsWithTheSummaryAndTheCommandThatGoesOn/2
  Of/RunsOnSignal.*/1
  # A page, a program and lists as long as they may be.
  ShowCommand.BoundsThePage
  BadInput.AHundredThousandStatementsOnTheSameBytesStayWithinBounds
  CheckCommand.SaysHowManyFindingsItLeftOut
  GenerateCommand.JudgesMoreWeightsThanALineHolds
  # Applications and the layer in them have no sanitizer. What is converted capture_tests have, and the
  # command other tests of Capture, CaptureRuns, CaptureExact, CaptureCalls and CaptureProcesses.
  CaptureRuns.AgreeWithSynchronizationValidation
  CaptureRuns.KeepTheChangesOfLayoutOfABarrierThatIsLeftOut
  CaptureRuns.FollowPassesOfGraphics
  CaptureRuns.TellTheApplicationWhatIsNotSoOfTheDevice
  CaptureRuns.KnowThatValidationFollowsNoAddresses
  CaptureRuns.KnowThatAWriteHidesEarlierOnesFromValidation
  CaptureRuns.KnowThatReadsBetweenTwoWritesHideTheFirstFromValidation
  Capture.TellsWhatOrdersAndWhatDoesNot
  Capture.HasAScriptThatMeasuresWhatItCosts
  Capture.NamesAProcessThatSubmittedNothing
  Capture.IsAskedForByOneVariable
  CaptureExact.IsCleanWhereDispatchesTouchOtherParts
  CaptureExact.WritesTheBytesThatWereTouched
  CaptureExact.ReadsEachSubmissionByItself
  CaptureCalls.AreJudgedAsTheyAre
  CaptureCalls.SayHowManyOfTheBarriersDo
  CaptureProcesses.AreNoVerdictWhileTheyAppendToTheirLogs
  CaptureProcesses.EndSoonAfterASignal
  CaptureProcesses.JudgeWhatRunsInTheBackground
  # Campaigns again, with other words on the command line or other lines at the end: what they run and
  # write fuzz_tests have, and the command Campaigns.SayLessOrMore, Workflow.FuzzingFinds...
  Campaigns.TakeWholeNumbersWithAnExponent
  Campaigns.ASeedThatIsDrawnIsPrintedAndGivesTheSame
  Campaigns.RewriteOneLineOnATerminal
  Campaigns.EveryFindPrintsTheCommandThatGivesItAgain
  Campaigns.TheSameCommandAgainMakesNoRun
  Workflow.TheCommandInAFileGivesTheFileAgain
  Workflow.ACampaignKeepsOneFileOfAFaultOrOneOfEachSignature
  Workflow.RunsTheRandomScheduleOfSeveralQueuesThatExploreNames
  Workflow.ACorrectEncoderGivesNothing
  FuzzCommand.TriesPlannersOnSeveralQueues
  FuzzCommand.JudgesProgramsOfSeveralQueuesAsTheyStand
  FuzzCommand.LeavesFilesOfOthersAlone
  Reports.AreMadeWhileACampaignRuns
  ExternalEncoders/Examples.PlaceTheFewestBarriers/0
  # Devices that hang or differ: DeviceWatchdog.ReportsTheProgramThatADeviceDiedOnAndGoesOn, and
  # RemoteBackend of backends_tests.
  DeviceWatchdog.AnInterruptEndsAHangSoonAndSavesWhatWasFound
  DeviceWatchdog.EndsADeviceThatHangsAndKeepsItsProgram
  DeviceWatchdog.FindsOfAFailingDeviceAreStatusOne
  Backends.OverlapModeTakesProgramsWithSeveralQueues
  Backends.CountTheTrialsOfOverlapThatDiffer
  # Words of errors, of help and of completions, some forty starts of the program.
  Errors.BeginAlikeAndOfferNames
  Completion.OfBashOffersCommandsOptionsAndTheirValues
  Colour.IsWhereItIsAskedFor)

set(left_out_of_fuzz_tests
  # Mistakes that a campaign of thousands of programs is to find, one campaign for each.
  QueueCampaign.FindsEachPlantedMistakeWithinTwentyThousandPrograms
  QueueCampaign.FindsEachBrokenEncoderWithinTwentyThousandPrograms
  QueueCampaign.HoldsAnEncoderToTheFewestThatItClaims
  QueuePlannerCampaign.FindsEachBrokenPlannerWithinTwentyThousandPrograms
  Campaign.FindsAnEncoderThatForgetsAfter128Accesses
  PassCampaign.ShrinksPytorch180952ToTwoProductsWithOneWeight
  PassCampaign.ShrinksPytorch181723ToTwoReplaysAndOneAccumulate
  PassCampaign.ShrinksZtensor167ToOneSavedTensorOneResetAndOneWrite
  Mutants/Canary.IsFoundWithinItsBudget/overflows_after_18_outputs
  LoraRun.StallsWithGgmlAndFallsWithEveryNodePinnedAndWithLiveness
  Workloads.HaveNoFindingWithRightPlanners
  # Campaigns that are killed: one with a limit takes all ways but that of a guided one.
  Of/KilledCampaign.*/Causes Of/KilledCampaign.*/AllSignatures
  Of/KilledCampaign.GoesOnAfterEachWriteOfTheJournal/*
  Of/KilledCampaign.GoesOnWheneverItIsKilled/*
  Of/KilledCampaign.ComesToItsEndThoughItIsKilledAgainAndAgain/ALimit
  Of/KilledCampaign.DropsATornRecord/Guided
  Of/KilledCampaign.GoesOnAfterAnInterruption/Guided
  Of/KilledCampaign.GoesOnAfterEachFind/Guided
  Resume.MakesNoRunAgain
  # Parts that are merged: Campaigns.AreMergedFromTheirShards of cli_tests.
  Of/Shards.*
  MergedBlocks.LeaveOutRunsThatTheFolderHas
  CampaignRecord.CountsFindingsByCauseAsTheCampaignDid
  Resume.KeepsTheFindsOfAnotherEncoderApart
  # Others' encoders and planners in processes: those that err, in campaigns of one job.
  ExternalCampaign.DoesNotDependOnTheNumberOfJobs
  ExternalPlannerCampaign.DoesNotDependOnTheNumberOfJobs
  ExternalPlannerCampaign.GoesOnToTheFilesOfAnUndisturbedOne
  # That hang, or answer differently: ExternalPlannerCampaign.
  ExternalCampaign.KeepsTheSmallestProgramOfAHang
  ExternalCampaign.SaysThatAnEncoderDoesNotRepeatItself
  # Wrong gradients of others: ExternalBackward.ThatIsWrongIsFoundAndFoundAgain of cli_tests. Policies
  # of others are asked as planners are.
  ExternalBackwardCampaign.RefutesPassesThatAreWrong
  ExternalReplayCampaign.JudgesAPolicyAsThatOfThisBuild
  # The same campaign on another number of jobs, by its number of a run, or of another kind of finds: one
  # of each, and of jobs CampaignOfJobs and PassCampaign.
  Signatures/CampaignOfJobs.WritesTheSameFilesForAnyNumber/0
  GuidedCampaign.LeavesTheSameFilesWhateverTheNumberOfJobs
  QueueCampaign.GivesTheSameFilesOnAnyNumberOfThreads
  QueueProgramCampaign.GivesTheSameFilesOnAnyNumberOfThreads
  QueuePlannerCampaign.ReproducesAFindFromItsRunAloneOnAnyNumberOfThreads
  PassCampaign.ReproducesAFindFromItsRunAlone
  Campaign.JudgesProgramsAsTheyStandWithoutAnEncoder
  Campaign.KeepsOneFilePerSignatureIfAskedTo
  Campaign.FindsOnlyWriteAfterReadInMlx2024
  CampaignRuns.AreTheSameInTwoHalves
  CampaignProgressOf.EndsWithWhatIsReported
  GuidedCampaign.IsAnUnguidedOneInItsFirstGeneration
  Campaign/FindsPerShape.*
  CampaignFinds.EndWithTheLimit
  MyCampaign.FindsNothingInARightEncoder
  # Programs at random that others of their room make and judge, too: guided ones
  # GuidedCampaign.MutatesProgramsWithTheHostAndQueues, disagreements CampaignDisagreements.
  GuidedCampaign.FindsNothingInARightEncoderForSeveralQueues
  QueueMutation.MakesEveryChange
  QueueProgramCampaign.MinimizesADisagreement
  QueuePlannerCampaign.TakesTheEncoderThatIsNamed
  StoppedWork.LeavesOfACampaignWhatItFoundBefore
  # Causes: of each kind of fault one.
  Mutants/CauseOfMutant.*/first_*
  Mutants/CauseOfMutant.*/resets_too_early
  Chains/CausesOfPasses.AreOnePerFault/10
  Cause.ShowsAProbeThatFails
  Planners/MinimizePasses.AddNoKindAndKeepTheSignature/3
  # Journals that are torn: Of/KilledCampaign.DropsATornRecord. What reports have of them, and of what a
  # campaign without sync misses: Reports of cli_tests, and other tests of CampaignReports.
  CampaignRecord.TellsOfEachPartOfAJournal
  CampaignReports.ShowThePictureOfEachFinding
  PosedConflicts.AreWhatAnEncoderWithoutSyncMisses
  # Devices that err: the worker that dies, and those whose bytes differ in one mode.
  Campaign/FaultyDevice.*
  DeviceCampaign.CountsWhatAHazardDoesInOverlapModeAndSaysNothingMore
  DeviceCampaign.HoldsEveryTrialOfACleanProgramAgainstIssueOrder
  # Conformance: one encoder of ours, a mutant in Conform.WritesItsCounterexamples, and right processes.
  MyEncoder.ConformsToInterlock
  InterlockEncoder.ConformsToInterlock
  Conform.TellsFailuresStateAndMemoryApart
  Conform.RefutesAProcessWithARingBeforeFiveThousandPrograms
  Conform.ShowsTheFaultsOfMutants
  Conform.ShowsWhatReplays
  Conform.HoldsMissingAnswersAgainstTheEncoderThatGivesThemLater
  Conform.JudgesNothingWhereAnswersAreMissing
  Conform.OfAProcessThatHangsNamesTheFirstProgramThatHung)

set(left_out_of_backends_tests
  # The kernels of a device that is emulated: emulated_cuda_tests.
  NumbersAcrossBackends.*/cuda_emulated
  # Long programs of kernels that each have a test.
  AttentionBlock.ComputesItsGradients
  RecordedStreams.ObservableHazardsOfTheStreamWithoutBarriersDivergeUnderTheirOwnSinks)

set(left_out_of_emulated_cuda_tests
  # One way to launch `mix` does for two.
  KernelsOnDevices.*/EmulatedCudaWithMixInTwoLaunches
  QueuesOnDevices.*/EmulatedCudaWithMixInTwoLaunches
  # Trials of the corpus: QueuesOnDevices.
  EmulatedQueues.ShowWhatIsMissingAndNothingElse)

set(left_out_of_cuda_tests
  # Each call of a run that fails: CudaFailures.
  CudaReplayedGraph.CleansUpAfterAnyCallThatFails
  # Trials of the bug and of its repair: the first.
  Cuda/CudaOverlap.OfTheRepairedTwinNeverDiverges/*
  Cuda/CudaOverlap.IssuesByTheNameOfALowering/*
  CudaConflictGraph.OfRecordedStreamsLeavesMoreUnorderedThanTheirBarriers)

set(left_out_of_vulkan_tests
  # Each call of a run that fails: VulkanFailures.AfterAnyCallOfAWitnessRunFailedTheNextRunWorks.
  VulkanFailures.AfterAnyCallOfAStagedRunFailedTheNextRunWorks
  VulkanFailures.AfterAnyCallOnSeveralQueuesFailedTheNextRunWorks
  VulkanCampaign.GoesOnWhenADeviceHangs
  # Megabytes, and hundreds of trials and schedules, most of it time of the driver: MixOnDevices and
  # QueuesOnDevices do the same with less.
  VulkanMix.HasOperandsOfAnySize
  VulkanMix.HasTheBitsOfTheCpuWhereOneLaunchBecomesSeveral
  VulkanQueues.ShowWhatIsMissingAndNothingElse
  VulkanQueues.OfThePublicBugsRepairedTwinsNeverDiffer
  VulkanOverlap.OfTheMlxBugDivergesAtLeastOnceIn200Trials
  VulkanOverlap.OfTheRepairedTwinNeverDivergesIn200Trials
  VulkanStreams.DivergeUnderTheSinksOfRemovedBarriersExactlyWhereTheCpuDoes
  VulkanTraining.StallsWhereVjpsWereInPlace)

set(left_out_of_capture_tests
  # Long logs in windows: Windows.HaveTheFindingsOfTheWholeProgram. What they take is 0 there.
  Windows.JudgeALongLogToItsEnd
  Windows.TakeNoMoreMemoryOfALongerLog
  # Thousands of variables: ConvertAddresses.AreNamedWhereTheyMayBeOfTooManyBuffers has buffers.
  ShaderAccesses.GivesUpOnTooManyBases)
