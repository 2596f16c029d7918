// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import com.google.common.collect.ImmutableSortedMap;
import io.isolde.mail.store.FlagChange;
import io.isolde.mail.store.MailboxNews;
import io.isolde.mail.store.MailboxSignals;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.NoMailboxException;
import io.isolde.mail.store.Numbers;
import io.isolde.mail.store.StoredMessage;
import io.isolde.mail.store.Uids;
import io.isolde.mail.store.cql.MailboxReads;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.mail.Flags;
import org.apache.james.core.Username;
import org.apache.james.events.Event;
import org.apache.james.events.EventBus;
import org.apache.james.events.EventListener;
import org.apache.james.events.Registration;
import org.apache.james.events.RegistrationKey;
import org.apache.james.mailbox.MailboxSession.SessionId;
import org.apache.james.mailbox.MessageUid;
import org.apache.james.mailbox.ModSeq;
import org.apache.james.mailbox.events.MailboxEvents.Added;
import org.apache.james.mailbox.events.MailboxEvents.Expunged;
import org.apache.james.mailbox.events.MailboxEvents.FlagsUpdated;
import org.apache.james.mailbox.model.Mailbox;
import org.apache.james.mailbox.model.MailboxPath;
import org.apache.james.mailbox.model.MessageMetaData;
import org.apache.james.mailbox.model.ThreadId;
import org.apache.james.mailbox.model.UpdatedFlags;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** A mailbox that sessions of this server have open, and what other servers change in it. */
final class SharedMailbox implements EventListener {
  private static final Logger log = LoggerFactory.getLogger(SharedMailbox.class);

  /** The events of this server come in that time, so their changes are known already. */
  private static final long DELAY_MILLIS = 100;

  private static final long RETRY_MILLIS = 5_000;

  /** Kept while the mailbox is read for the first time. */
  private static final int MAX_EVENTS = 1_000;

  private static final SessionId ELSEWHERE = SessionId.of(0);

  /** Of messages that have gone nobody asks more than the UID. */
  private static final UuidMessageId GONE = new UuidMessageId(new UUID(0, 0));

  private final UUID id;
  private final RegistrationKey key;
  private final EventBus local;
  private final MailboxReads reads;
  private final ScheduledExecutorService readers;
  private final AtomicBoolean isRefreshing = new AtomicBoolean();

  /** Whether there was a signal since the last look at the mailbox. */
  private volatile boolean isSignalled;

  /** Guarded by the map that has this. */
  int listeners;

  /** Held while the mailbox is read for the first time. What this server delivers never waits. */
  private final Object starting = new Object();

  /** These are guarded by the former. */
  private Registration registration;

  private MailboxSignals.Listening listening;

  /** These are guarded by this. */
  private final List<Event> meanwhile = new ArrayList<>();

  private MailboxNews news;
  private Mailbox mailbox;
  private boolean isClosed;

  /** Whether something came during the first look that it may not have seen. */
  private boolean isMissed;

  SharedMailbox(
      UUID id,
      RegistrationKey key,
      EventBus local,
      MailboxReads reads,
      ScheduledExecutorService readers) {
    this.id = id;
    this.key = key;
    this.local = local;
    this.reads = reads;
    this.readers = readers;
  }

  /** Reads the mailbox, unless that was done; whoever reads it later hears of all changes. */
  void start(MailboxSignals signals) {
    synchronized (starting) {
      synchronized (this) {
        if (news != null || isClosed) {
          return;
        }
        meanwhile.clear();
      }
      if (registration == null) {
        registration = Mono.from(local.register(this, key)).block();
      }
      if (listening == null) {
        listening = signals.listen(id, this::signalled);
      }
      NamedMailbox named = reads.mailbox(id).orElseThrow(() -> new NoMailboxException(id));
      started(JamesMailbox.mailbox(named), new MailboxNews(numbers(), all()));
    }
  }

  private synchronized void started(Mailbox found, MailboxNews read) {
    mailbox = found;
    news = read;
    meanwhile.forEach(this::hear);
    meanwhile.clear();
    if (isMissed) {
      isMissed = false;
      signalled();
    }
  }

  private Numbers numbers() {
    return reads.numbers(id).orElseThrow(() -> new NoMailboxException(id));
  }

  private Iterator<StoredMessage> all() {
    return reads.messages(id, (Uids.Range) Uids.ALL);
  }

  /** What this server has done itself, or found before. */
  @Override
  public synchronized void event(Event event) {
    if (news != null) {
      hear(event);
    } else if (meanwhile.size() < MAX_EVENTS) {
      meanwhile.add(event);
    } else {
      isMissed = true;
    }
  }

  private void hear(Event event) {
    if (event instanceof Added added) {
      added
          .getAdded()
          .values()
          .forEach(
              message ->
                  news.heard(
                      message.getUid().asLong(),
                      message.getModSeq().asLong(),
                      JamesFlags.stored(message.getFlags())));
    } else if (event instanceof FlagsUpdated flagged) {
      flagged
          .getUpdatedFlags()
          .forEach(
              flags ->
                  news.heard(
                      flags.getUid().asLong(),
                      flags.getModSeq().asLong(),
                      JamesFlags.stored(flags.getNewFlags())));
    } else if (event instanceof Expunged expunged) {
      expunged.getUids().forEach(uid -> news.heardRemoved(uid.asLong()));
    }
  }

  private void signalled() {
    isSignalled = true;
    refreshIn(DELAY_MILLIS);
  }

  private void refreshIn(long millis) {
    if (isRefreshing.getAndSet(true)) {
      return;
    }
    try {
      var unused = readers.schedule(this::refresh, millis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      log.debug("The server ends", e);
    }
  }

  /** One at a time, so that a busy mailbox has one thread at most. */
  private void refresh() {
    isSignalled = false;
    long pause = DELAY_MILLIS;
    try {
      news().ifPresent(this::spread);
    } catch (NoMailboxException e) {
      log.debug("A mailbox was deleted by another server", e);
    } catch (RuntimeException e) {
      log.info("What has changed in mailbox {} can't be read now, and is read later", id, e);
      isSignalled = true;
      pause = RETRY_MILLIS;
    } finally {
      isRefreshing.set(false);
      if (isSignalled) {
        refreshIn(pause);
      }
    }
  }

  private Optional<MailboxNews.News> news() {
    long firstNew;
    synchronized (this) {
      if (news == null || isClosed) {
        isMissed = true;
        return Optional.empty();
      }
      news.startReading();
      firstNew = news.firstUnknownUid();
    }
    Numbers read = numbers();
    synchronized (this) {
      if (!news.isBehind(read)) {
        news.stopReading();
        return Optional.empty();
      }
    }
    List<StoredMessage> added = new ArrayList<>();
    reads.messages(id, new Uids.Range(firstNew, Long.MAX_VALUE)).forEachRemaining(added::add);
    synchronized (this) {
      if (news.isComplete(read, added)) {
        return Optional.of(news.withNew(read, added));
      }
    }
    List<StoredMessage> messages = new ArrayList<>();
    all().forEachRemaining(messages::add);
    synchronized (this) {
      MailboxNews.News changes = news.withAll(read, messages.iterator());
      if (news.isBehind(read)) {
        isSignalled = true;
      }
      return Optional.of(changes);
    }
  }

  private void spread(MailboxNews.News changes) {
    if (!changes.added().isEmpty()) {
      ImmutableSortedMap.Builder<MessageUid, MessageMetaData> added =
          ImmutableSortedMap.naturalOrder();
      changes
          .added()
          .forEach(message -> added.put(uid(message.uid()), CqlMessageMapper.metaData(message)));
      dispatch(
          new Added(
              ELSEWHERE, owner(), path(), mailbox.getMailboxId(), added.build(), event(), false));
    }
    List<UpdatedFlags> flagged =
        changes.flagged().stream()
            .map(SharedMailbox::flags)
            .filter(UpdatedFlags::flagsChanged)
            .toList();
    if (!flagged.isEmpty()) {
      dispatch(
          new FlagsUpdated(ELSEWHERE, owner(), path(), mailbox.getMailboxId(), flagged, event()));
    }
    if (!changes.removed().isEmpty()) {
      Map<MessageUid, MessageMetaData> removed = new TreeMap<>();
      changes.removed().forEach(gone -> removed.put(uid(gone), gone(gone)));
      dispatch(new Expunged(ELSEWHERE, owner(), path(), mailbox.getMailboxId(), removed, event()));
    }
  }

  /** Whether a message is recent is the business of the session that has opened it first. */
  private static UpdatedFlags flags(FlagChange change) {
    Flags before = JamesFlags.flags(change.before());
    Flags after = JamesFlags.flags(change.after().flags());
    before.remove(Flags.Flag.RECENT);
    after.remove(Flags.Flag.RECENT);
    return UpdatedFlags.builder()
        .uid(uid(change.after().uid()))
        .messageId(new UuidMessageId(change.after().facts().messageId()))
        .modSeq(ModSeq.of(change.after().modSeq()))
        .oldFlags(before)
        .newFlags(after)
        .build();
  }

  private static MessageMetaData gone(long uid) {
    return new MessageMetaData(
        uid(uid),
        ModSeq.first(),
        new Flags(),
        0,
        Date.from(Instant.EPOCH),
        Optional.empty(),
        GONE,
        ThreadId.fromBaseMessageId(GONE));
  }

  private static MessageUid uid(long uid) {
    return MessageUid.of(uid);
  }

  private Username owner() {
    return path().getUser();
  }

  private MailboxPath path() {
    return mailbox.generateAssociatedPath();
  }

  private static Event.EventId event() {
    return Event.EventId.random();
  }

  private void dispatch(Event event) {
    local.dispatch(event, Set.of(key)).block();
  }

  void close() {
    synchronized (this) {
      isClosed = true;
    }
    synchronized (starting) {
      if (registration != null) {
        Mono.from(registration.unregister()).block();
      }
      if (listening != null) {
        listening.close();
      }
    }
  }
}
