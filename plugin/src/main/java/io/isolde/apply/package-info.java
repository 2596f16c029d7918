// SPDX-License-Identifier: Apache-2.0
/**
 * Applying decided commits: what a commit's writes are ({@link io.isolde.conflict.WriteSet}), who
 * applies them ({@link io.isolde.apply.WhoApplies}), how they get to a quorum of the replicas of
 * each partition ({@link io.isolde.apply.MutationApplier}, {@link io.isolde.apply.OutboundQueues}),
 * and who does it when the coordinator is gone or a node has lost them ({@link
 * io.isolde.apply.Recovery}, {@link io.isolde.apply.LostWritesApplier}).
 */
package io.isolde.apply;
