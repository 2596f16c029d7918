// SPDX-License-Identifier: Apache-2.0
/**
 * The other nodes of the cluster: which there are, and requests to them over the oracle's port,
 * which has its own connections and TLS (docs/adr/0008).
 */
package io.isolde.peers;
