// SPDX-License-Identifier: Apache-2.0

/** Who may go first with rows that many want. A courtesy: the oracle alone decides what commits. */
package io.isolde.oracle.lock;
