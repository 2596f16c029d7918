// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

/**
 * What a {@link StatusOracle} has done (counters since it began; a loaded one goes on counting) and
 * what it holds (gauges).
 *
 * @param committed transactions committed
 * @param readWriteAborts aborted because something read had been committed since
 * @param writeWriteAborts aborted because something overwritten had been committed since
 * @param forgottenAborts aborted because the oracle no longer knew; false conflicts, a sign that
 *     {@link OracleConfig#maxRows} is too small
 * @param requestedAborts aborted because {@link StatusOracle#abort} was called
 * @param refused commit requests not decided
 * @param pendingCommits commits decided but not applied
 * @param inDoubtCommits those of them that {@code stable} has passed
 * @param outcomesKept decisions that can still be asked for
 * @param rowsKept ids whose last commit is known
 * @param tmax the largest commit timestamp forgotten, in microseconds; what a transaction reads may
 *     be forgotten only if it started below this
 * @param stable see {@link StatusOracle#stable()}
 * @param lastIssued see {@link StatusOracle#lastIssued()}
 */
public record OracleStatistics(
    long committed,
    long readWriteAborts,
    long writeWriteAborts,
    long forgottenAborts,
    long requestedAborts,
    long refused,
    int pendingCommits,
    int inDoubtCommits,
    int outcomesKept,
    int rowsKept,
    long tmax,
    long stable,
    long lastIssued) {}
