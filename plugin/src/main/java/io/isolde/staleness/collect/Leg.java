// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness.collect;

/** What of a request's way a delay is. */
public enum Leg {
  /** From sending a write until the replica shows it. */
  WRITE,
  /** From there until the acknowledgement is here. */
  ACK,
  /** From sending a read until the replica looks at its data. */
  REQUEST,
  /** From there until the answer is here. */
  RESPONSE,
  /** From looking at data until the answer, on a replica that is the coordinator itself. */
  LOCAL_READ
}
