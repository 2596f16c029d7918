// SPDX-License-Identifier: Apache-2.0
/** For how long nobody succeeds when a leader is gone: of the oracle, of a strong keyspace. */
package io.isolde.bench.failover;
