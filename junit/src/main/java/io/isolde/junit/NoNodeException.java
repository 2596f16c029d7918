// SPDX-License-Identifier: Apache-2.0
package io.isolde.junit;

import io.isolde.cluster.ClusterException;

/** The node for the tests could not be started; the message says why, and what can be done. */
public final class NoNodeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NoNodeException(ClusterException cause) {
    super("There is no node to test with. " + cause.getMessage(), cause);
  }
}
