// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletionException;

/** Why a request over a {@link PeerClient} got no answer. */
public final class TransportException extends IOException {
  private static final long serialVersionUID = 1L;

  /** What a caller does about it. */
  public enum Reason {
    /** Nothing was sent: the connection's bound of waiting bytes or requests is reached. */
    BUSY,
    /** Nothing was done: the other side has too many requests of this connection. */
    REMOTE_BUSY,
    /** Nothing was sent: the frame is larger than the bound. */
    TOO_LARGE,
    /** Nothing was sent: there is no connection to the node. */
    UNREACHABLE,
    /** The connection is closed; the other side may have seen the request. */
    CLOSED,
    /** Nothing was sent: the other side's build and this one understand nothing of each other. */
    OTHER_FORMAT,
    /** The other side failed to answer, and says why. */
    REMOTE_ERROR
  }

  private final Reason reason;

  TransportException(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  TransportException(Reason reason, String message, Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  /**
   * Of a request that was not sent for want of a connection.
   *
   * @param failure null if this node closes
   */
  static TransportException notConnected(InetSocketAddress address, Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    boolean isOtherFormat =
        cause instanceof TransportException known && known.reason == Reason.OTHER_FORMAT;
    return isOtherFormat
        ? (TransportException) cause
        : new TransportException(
            Reason.UNREACHABLE,
            "Cannot connect to "
                + address
                + ": "
                + (cause == null ? "this node closes." : cause.getMessage()),
            cause);
  }

  /** What a caller does about it. */
  public Reason reason() {
    return reason;
  }
}
