// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import io.isolde.mail.delivery.DeliveryLedger;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** A ledger in memory. */
final class MapLedger implements DeliveryLedger {
  private final Map<String, Entry> entries = new ConcurrentHashMap<>();

  /** Entries can't be written as done: as if the cluster were away after the message is there. */
  volatile boolean isBroken;

  void forgetThatAllAreDone() {
    entries.replaceAll((id, entry) -> new Entry(entry.started(), entry.nextUid(), false));
  }

  void haveAllStartedAt(Instant time) {
    entries.replaceAll((id, entry) -> new Entry(time, entry.nextUid(), entry.isDone()));
  }

  @Override
  public Optional<Entry> find(String id) {
    return Optional.ofNullable(entries.get(id));
  }

  @Override
  public void start(String id, Instant now, long nextUid) {
    entries.put(id, new Entry(now, nextUid, false));
  }

  @Override
  public void done(String id, Entry started) {
    if (isBroken) {
      throw new IllegalStateException("The ledger is away");
    }
    entries.put(id, new Entry(started.started(), started.nextUid(), true));
  }
}
