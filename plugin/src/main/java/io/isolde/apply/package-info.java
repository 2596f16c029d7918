// SPDX-License-Identifier: Apache-2.0
/**
 * Applying decided commits: how they get to a quorum of the replicas of each partition ({@link
 * io.isolde.apply.MutationApplier}, {@link io.isolde.apply.OutboundQueues}), and who does it for a
 * coordinator: the oracle's leader ({@link io.isolde.apply.LeaderApplier}), or others when the
 * coordinator is gone or a node has lost them ({@link io.isolde.apply.Recovery}, {@link
 * io.isolde.apply.LostWritesApplier}). What a commit's writes are is in another package ({@link
 * io.isolde.conflict.WriteSet}).
 */
package io.isolde.apply;
