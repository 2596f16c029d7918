// SPDX-License-Identifier: Apache-2.0
/**
 * Snapshots over the nodes of a cluster: who makes one, what each node does for it, what is left to
 * tidy up. Requests go over the oracle's port, which has its own connections and TLS
 * (docs/adr/0008).
 */
package io.isolde.snapshot.node;
