// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import io.isolde.mail.store.MailboxSignals;
import io.isolde.mail.store.cql.MailboxReads;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.james.events.Event;
import org.apache.james.events.EventBus;
import org.apache.james.events.EventBusName;
import org.apache.james.events.EventListener;
import org.apache.james.events.Group;
import org.apache.james.events.Registration;
import org.apache.james.events.RegistrationKey;
import org.apache.james.mailbox.events.MailboxIdRegistrationKey;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * The events of this server, and for who listens to a mailbox those of all other servers. Each
 * mailbox that somebody here listens to is watched once.
 */
final class SharedEvents implements EventBus, AutoCloseable {
  private static final int MAX_THREADS = 2;

  private final EventBus local;
  private final MailboxReads reads;
  private final MailboxSignals signals;

  /** They wait for reads of mailboxes that have changed, one of each mailbox. */
  private final ScheduledExecutorService readers;

  /** Those that somebody listens to; guarded by itself. */
  private final Map<UUID, SharedMailbox> open = new HashMap<>();

  SharedEvents(EventBus local, MailboxReads reads, MailboxSignals signals) {
    this.local = local;
    this.reads = reads;
    this.signals = signals;
    readers =
        Executors.newScheduledThreadPool(
            MAX_THREADS,
            task -> {
              Thread thread = new Thread(task, "mail-news");
              thread.setDaemon(true);
              return thread;
            });
  }

  /** Reads the mailbox, so it may wait where it is subscribed to. */
  @Override
  public Publisher<Registration> register(
      EventListener.ReactiveEventListener listener, RegistrationKey key) {
    Mono<Registration> registered = Mono.from(local.register(listener, key));
    return key instanceof MailboxIdRegistrationKey mailbox
        ? registered.flatMap(registration -> shared(registration, mailbox))
        : registered;
  }

  private Mono<Registration> shared(Registration registration, MailboxIdRegistrationKey key) {
    UUID mailbox = UuidMailboxId.of(key.getMailboxId());
    AtomicBoolean isRegistered = new AtomicBoolean(true);
    Registration ofBoth =
        () ->
            Mono.from(registration.unregister())
                .doFinally(
                    end -> {
                      if (isRegistered.getAndSet(false)) {
                        leave(mailbox);
                      }
                    });
    return Calls.mono(
            () -> {
              enter(mailbox, key);
              return ofBoth;
            })
        .onErrorResume(failure -> Mono.from(ofBoth.unregister()).then(Mono.error(failure)));
  }

  private void enter(UUID id, RegistrationKey key) {
    SharedMailbox mailbox;
    synchronized (open) {
      mailbox = open.computeIfAbsent(id, none -> new SharedMailbox(id, key, local, reads, readers));
      mailbox.listeners++;
    }
    mailbox.start(signals);
  }

  private void leave(UUID id) {
    SharedMailbox mailbox;
    synchronized (open) {
      mailbox = open.get(id);
      if (mailbox == null || --mailbox.listeners > 0) {
        return;
      }
      open.remove(id);
    }
    mailbox.close();
  }

  /** How many mailboxes are watched now. */
  int watched() {
    synchronized (open) {
      return open.size();
    }
  }

  @Override
  public Registration register(EventListener.ReactiveEventListener listener, Group group) {
    return local.register(listener, group);
  }

  @Override
  public Mono<Void> dispatch(Event event, Set<RegistrationKey> keys) {
    return local.dispatch(event, keys);
  }

  @Override
  public Mono<Void> reDeliver(Group group, Event event) {
    return local.reDeliver(group, event);
  }

  @Override
  public EventBusName eventBusName() {
    return local.eventBusName();
  }

  @Override
  public Collection<Group> listRegisteredGroups() {
    return local.listRegisteredGroups();
  }

  @Override
  public void close() {
    synchronized (open) {
      open.values().forEach(SharedMailbox::close);
      open.clear();
    }
    readers.shutdownNow();
  }
}
