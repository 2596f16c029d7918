// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.junit.IsoldeTest;
import io.isolde.mail.store.MailboxSignals;
import io.isolde.mail.store.Name;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.cql.MailboxStore;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.james.core.Username;
import org.apache.james.events.Event;
import org.apache.james.events.EventListener;
import org.apache.james.events.InVMEventBus;
import org.apache.james.events.MemoryEventDeadLetters;
import org.apache.james.events.Registration;
import org.apache.james.events.RetryBackoffConfiguration;
import org.apache.james.events.delivery.InVmEventDelivery;
import org.apache.james.mailbox.MailboxSession;
import org.apache.james.mailbox.events.MailboxEvents.Expunged;
import org.apache.james.mailbox.events.MailboxIdRegistrationKey;
import org.apache.james.mailbox.model.MailboxPath;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

@IsoldeTest
class SharedEventsTest {

  @Test
  void whenSeveralListenToAMailboxThenItIsWatchedOnceAndUntilTheLastHasGone(CqlSession session) {
    MailboxStore store = MailboxStore.quorum(session, "shared_events");
    UUID mailbox = UUID.randomUUID();
    Name name = new Name("alice", "#private", "INBOX");
    assertThat(store.writes().create(new NamedMailbox(name, mailbox, 1, Map.of()))).isTrue();
    AtomicInteger started = new AtomicInteger();
    AtomicInteger open = new AtomicInteger();
    MailboxSignals signals =
        (id, changed) -> {
          started.incrementAndGet();
          open.incrementAndGet();
          return open::decrementAndGet;
        };
    InVMEventBus local =
        new InVMEventBus(
            new InVmEventDelivery(new NoMetrics()),
            RetryBackoffConfiguration.DEFAULT,
            new MemoryEventDeadLetters());
    try (SharedEvents events = new SharedEvents(local, store.reads(), signals)) {
      Registration first = listen(events, mailbox);
      Registration second = listen(events, mailbox);
      assertThat(started.get()).isEqualTo(1);
      Mono.from(first.unregister()).block();
      Mono.from(first.unregister()).block();
      assertThat(open.get()).isEqualTo(1);
      Mono.from(second.unregister()).block();
      assertThat(open.get()).isZero();
      assertThat(events.watched()).isZero();
      listen(events, mailbox);
      assertThat(open.get()).isEqualTo(1);
    }
    assertThat(open.get()).isZero();
  }

  /** A local delivery waits for its events to be heard, and a first look may take long. */
  @Test
  void whenAMailboxIsReadForTheFirstTimeThenEventsOfThisServerDoNotWait(CqlSession session) {
    MailboxStore store = MailboxStore.quorum(session, "shared_events");
    UUID mailbox = UUID.randomUUID();
    Name name = new Name("bob", "#private", "INBOX");
    assertThat(store.writes().create(new NamedMailbox(name, mailbox, 1, Map.of()))).isTrue();
    InVMEventBus local =
        new InVMEventBus(
            new InVmEventDelivery(new NoMetrics()),
            RetryBackoffConfiguration.DEFAULT,
            new MemoryEventDeadLetters());
    UuidMailboxId id = new UuidMailboxId(mailbox);
    Expunged event =
        new Expunged(
            MailboxSession.SessionId.of(1),
            Username.of("bob"),
            MailboxPath.inbox(Username.of("bob")),
            id,
            Map.of(),
            Event.EventId.random());
    AtomicInteger heard = new AtomicInteger();
    MailboxSignals signals =
        (signalled, changed) -> {
          CompletableFuture.runAsync(
                  () -> local.dispatch(event, Set.of(new MailboxIdRegistrationKey(id))).block())
              .orTimeout(10, TimeUnit.SECONDS)
              .thenRun(heard::incrementAndGet)
              .join();
          return () -> {};
        };
    try (SharedEvents events = new SharedEvents(local, store.reads(), signals)) {
      listen(events, mailbox);
    }
    assertThat(heard.get()).isEqualTo(1);
  }

  private static Registration listen(SharedEvents events, UUID mailbox) {
    EventListener listener = event -> {};
    return Mono.from(
            events.register(listener, new MailboxIdRegistrationKey(new UuidMailboxId(mailbox))))
        .block();
  }
}
