// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

/** Which nodes coordinate requests for a row. */
public enum CoordinatorChoice {
  /** Its replicas: clients with a token-aware driver. */
  REPLICA,
  /** Any node: clients that know nothing of tokens. */
  ANY
}
