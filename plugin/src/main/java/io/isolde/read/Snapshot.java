// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import io.isolde.version.VersionIndex;

/**
 * What one SELECT reads.
 *
 * @param asOf the timestamp in microseconds
 * @param versions of the table that is read
 * @param ownWrites of the transaction that reads
 * @param recorder is told what is read
 */
public record Snapshot(
    long asOf, VersionIndex versions, OwnWrites ownWrites, ReadRecorder recorder) {}
