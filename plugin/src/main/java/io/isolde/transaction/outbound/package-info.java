// SPDX-License-Identifier: Apache-2.0
/**
 * The way of decided commits to the other replicas: many in a message, where Cassandra sends one
 * for each partition (docs/adr/0023).
 */
package io.isolde.transaction.outbound;
