// SPDX-License-Identifier: Apache-2.0
/**
 * What a replica does about commits that it had applied and lost, because it died before its commit
 * log was on disk:
 *
 * <ul>
 *   <li>{@link io.isolde.restart.DurableCheckpoint} says up to where it has lost nothing.
 *   <li>{@link io.isolde.restart.LostCommits} gets the rest from the oracle's log.
 *   <li>{@link io.isolde.restart.Restart} lets nobody read from it until then.
 * </ul>
 */
package io.isolde.restart;
