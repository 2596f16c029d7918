// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

/** What becomes of one who waits for a timestamp to be stable. */
sealed interface WaitResult {
  /** It is; or no longer worth waiting for. */
  record Now(Stable stable) implements WaitResult {}

  /** Who asked is answered later. */
  record Later() implements WaitResult {}

  /** Too many wait. */
  record TooMany() implements WaitResult {}

  /** This member can't tell. */
  record NotServing() implements WaitResult {}
}
