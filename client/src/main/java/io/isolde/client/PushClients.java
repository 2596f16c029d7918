// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** The sessions of an {@link Isolde}: one, as long as it has fewer than 1,024 watches. */
final class PushClients {
  /** A watch by its number in a session. */
  record Subscribed(PushClient client, int number) {
    void pause() {
      client.pause(number);
    }

    void resume() {
      client.resume(number);
    }

    void end() {
      client.unwatch(number);
    }
  }

  private final PushOptions options;
  private final PushNodes nodes;
  private final Timing timing;

  /** Guarded by this; they close their connections when nobody watches. */
  private final List<PushClient> clients = new ArrayList<>();

  PushClients(PushOptions options, PushNodes nodes, Timing timing) {
    this.options = options;
    this.nodes = nodes;
    this.timing = timing;
  }

  PushNodes nodes() {
    return nodes;
  }

  Timing timing() {
    return timing;
  }

  /** Begins a watch in one that has room. */
  synchronized Subscribed watch(PushClient.Watcher watcher, OptionalLong after) {
    PushClient client = any();
    return new Subscribed(client, client.watch(watcher, after));
  }

  private PushClient any() {
    for (PushClient client : clients) {
      if (client.hasRoom()) {
        return client;
      }
    }
    PushClient made = new PushClient(options, nodes, timing);
    clients.add(made);
    return made;
  }
}
