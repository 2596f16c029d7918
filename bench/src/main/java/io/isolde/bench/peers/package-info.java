// SPDX-License-Identifier: Apache-2.0
/** What Isolde is compared with: Omid, ScalarDB and Accord. None of them is on this class path. */
package io.isolde.bench.peers;
