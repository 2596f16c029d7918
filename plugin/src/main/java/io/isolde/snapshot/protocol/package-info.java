// SPDX-License-Identifier: Apache-2.0
/**
 * How a snapshot comes into being on all nodes or on none: the creator's side and a node's side, as
 * pure state machines without clock, thread or network.
 *
 * <p>Two phases. First all nodes do all that can fail, one {@link io.isolde.snapshot.protocol.Step}
 * after another, in tables that nobody may read yet. Then one change of the schema says that the
 * snapshot is ready: that is the decision, made on the creator's disk before anybody hears of it. A
 * creator that dies before leaves tables that say who made them, to be removed; one that dies after
 * leaves a snapshot.
 */
package io.isolde.snapshot.protocol;
