// SPDX-License-Identifier: Apache-2.0
/** What transactions cost, against plain statements and against the peers. */
package io.isolde.bench.transactions;
