// SPDX-License-Identifier: Apache-2.0
/**
 * SELECT as of a timestamp, on the coordinator: any prepared SELECT is executed by Cassandra's own
 * code, with paging, aggregates, grouping and ordering; only its queries are replaced by ones that
 * read as of the snapshot, see the transaction's own writes, and record what was read.
 *
 * <p>Only this package and {@code io.isolde.replication}, whose queries ask leaders, put queries of
 * their own in the place of Cassandra's coordinator reads.
 */
package io.isolde.read;
