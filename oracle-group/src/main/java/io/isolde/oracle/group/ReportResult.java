// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import java.util.List;

/**
 * What it leads to that commits are applied.
 *
 * @param nowStable who has waited for what is stable now
 * @param unlogged those of which the log does not know it yet
 * @param isInDoubt whether others keep away from the rows of one of them until it does
 */
record ReportResult(
    Stable stable, List<Request> nowStable, List<Long> unlogged, boolean isInDoubt) {}
