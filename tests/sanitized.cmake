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
  # A page that is as long as one may be.
  ShowCommand.BoundsThePage
  CaptureRuns.AgreeWithSynchronizationValidation)

set(left_out_of_fuzz_tests
  # Mistakes that a campaign of thousands of programs is to find, one campaign for each.
  QueueCampaign.FindsEachPlantedMistakeWithinTwentyThousandPrograms
  QueueCampaign.FindsEachBrokenEncoderWithinTwentyThousandPrograms
  QueueCampaign.HoldsAnEncoderToTheFewestThatItClaims
  QueuePlannerCampaign.FindsEachBrokenPlannerWithinTwentyThousandPrograms
  Campaign.FindsAnEncoderThatForgetsAfter128Accesses
  PassCampaign.ShrinksPytorch180952ToTwoProductsWithOneWeight
  # Campaigns that are killed: those with a limit, and guided ones, take the same way.
  Of/KilledCampaign.*/Causes Of/KilledCampaign.*/AllSignatures
  # Parts that are merged: those of Three.
  Of/Shards.AreTheCampaignOnceTheyAreMerged/Two Of/Shards.AreTheCampaignOnceTheyAreMerged/Five
  MergedBlocks.LeaveOutRunsThatTheFolderHas
  CampaignRecord.CountsFindingsByCauseAsTheCampaignDid
  Resume.KeepsTheFindsOfAnotherEncoderApart
  # Others' encoders and planners in processes: those that err, in campaigns of one job.
  ExternalCampaign.DoesNotDependOnTheNumberOfJobs
  ExternalPlannerCampaign.DoesNotDependOnTheNumberOfJobs
  ExternalPlannerCampaign.GoesOnToTheFilesOfAnUndisturbedOne
  # Conformance: one encoder of ours, a mutant in Conform.WritesItsCounterexamples, and right processes.
  MyEncoder.ConformsToInterlock
  Conform.TellsFailuresStateAndMemoryApart
  Conform.RefutesAProcessWithARingBeforeFiveThousandPrograms
  Conform.ShowsTheFaultsOfMutants)
