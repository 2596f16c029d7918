// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import io.isolde.notification.ClientMessage;
import io.isolde.oracle.group.Changes;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.apache.cassandra.service.ClientState;

/** What clients may subscribe to. */
@FunctionalInterface
public interface PushedStatements {
  /** A statement that was understood and allowed. It holds no more than it needs. */
  interface Question {
    /** Equal for all that always have the same answers. */
    Object subject();

    /**
     * Throws if the client may not read what it is about, or not any more. Not on an event loop.
     */
    void requireAllowed(ClientState client);

    /**
     * Asks what has changed. Not on an event loop.
     *
     * @param after empty for from now on
     */
    CompletableFuture<Changes.Notification> ask(OptionalLong after, long waitMillis);
  }

  /** Understands a subscription, or throws what is wrong with it. Not on an event loop. */
  Question prepare(ClientMessage subscription, ClientState client);
}
