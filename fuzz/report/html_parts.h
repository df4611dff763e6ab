// Parts of the page of campaigns: its head, the matrix, the growth, and the words that it uses.
#pragma once

#include <optional>
#include <string>

#include "fuzz/report/campaign_record.h"
#include "fuzz/report/hazard_matrix.h"

namespace interlock {

// Up to the start of the main part. Requires: `title` is markup.
std::string html_head(const std::string& title);

// The matrix with its legend; kernels of which nothing was met in a list of their own.
std::string matrix_html(const HazardMatrix& matrix, const std::optional<PosedConflicts>& posed);

// How the number of signatures grew over the programs: a picture, and a sentence.
std::string growth_html(const SubjectRecord& subject);

std::string glossary_html();

}  // namespace interlock
