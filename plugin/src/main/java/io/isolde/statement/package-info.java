// SPDX-License-Identifier: Apache-2.0

/** What statements that write are: their conditions and their writes, by Cassandra's own code. */
package io.isolde.statement;
