// SPDX-License-Identifier: Apache-2.0

/** Waiting for rows that many want: the locks are at the oracle's leader. */
package io.isolde.rowlock;
