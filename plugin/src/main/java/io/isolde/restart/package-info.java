// SPDX-License-Identifier: Apache-2.0
/**
 * What a replica does about commits that it had applied and lost, because it died before its commit
 * log was on disk: {@link io.isolde.restart.DurableCheckpoint} says up to where it has lost
 * nothing, {@link io.isolde.restart.LostCommits} gets the rest from the oracle's log, and until
 * then {@link io.isolde.restart.Restart} lets nobody read from it.
 */
package io.isolde.restart;
