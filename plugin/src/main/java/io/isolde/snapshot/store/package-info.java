// SPDX-License-Identifier: Apache-2.0
/**
 * The SSTables of a snapshot's table on one node: settled in a moment, then linked, or rewritten
 * where they hold what is newer, and never changed afterwards.
 */
package io.isolde.snapshot.store;
