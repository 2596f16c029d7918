// SPDX-License-Identifier: Apache-2.0
/**
 * How soon many watchers hear of a change: those of Isolde's push port beside those of ZooKeeper,
 * each a connection of its own on a few event loops. A checker of its own compares what each heard
 * with what was written.
 */
package io.isolde.bench.notifications;
