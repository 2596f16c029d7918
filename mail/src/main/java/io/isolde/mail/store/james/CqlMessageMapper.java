// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.Iterators;
import com.google.common.collect.Lists;
import io.isolde.mail.store.DeliveredBeforeException;
import io.isolde.mail.store.DeliveryId;
import io.isolde.mail.store.FlagChange;
import io.isolde.mail.store.MailboxChanges;
import io.isolde.mail.store.MailboxWrites;
import io.isolde.mail.store.MessageFacts;
import io.isolde.mail.store.NoMailboxException;
import io.isolde.mail.store.NoMessageException;
import io.isolde.mail.store.NotChangedException;
import io.isolde.mail.store.Numbers;
import io.isolde.mail.store.StoredFlags;
import io.isolde.mail.store.StoredMessage;
import io.isolde.mail.store.TooManyKeywordsException;
import io.isolde.mail.store.Uids;
import io.isolde.mail.store.cql.Contents;
import io.isolde.mail.store.cql.MailboxReads;
import io.isolde.mail.store.cql.MailboxStore;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Date;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import javax.mail.Flags;
import org.apache.james.mailbox.MessageUid;
import org.apache.james.mailbox.ModSeq;
import org.apache.james.mailbox.exception.MailboxException;
import org.apache.james.mailbox.model.Mailbox;
import org.apache.james.mailbox.model.MailboxCounters;
import org.apache.james.mailbox.model.MessageMetaData;
import org.apache.james.mailbox.model.MessageRange;
import org.apache.james.mailbox.model.ThreadId;
import org.apache.james.mailbox.model.UpdatedFlags;
import org.apache.james.mailbox.store.FlagsUpdateCalculator;
import org.apache.james.mailbox.store.mail.model.MailboxMessage;
import org.apache.james.mailbox.store.transaction.NonTransactionalMapper;
import reactor.core.publisher.Flux;

/** Messages of a mailbox. Each change of up to {@link Uids#MAX_OF_A_CHANGE} of them is one. */
final class CqlMessageMapper extends NonTransactionalMapper implements WaitingMessageMapper {
  private final MailboxReads reads;
  private final MailboxWrites writes;
  private final Contents contents;
  private final MessageLoader loader;
  private final Clock clock;
  private final Optional<DeliveryId> delivery;

  /**
   * @param delivery what the one message is known by that this adds
   */
  CqlMessageMapper(MailboxStore store, Clock clock, Optional<DeliveryId> delivery) {
    this.reads = store.reads();
    this.writes = store.writes();
    this.contents = store.contents();
    this.loader = new MessageLoader(store);
    this.clock = clock;
    this.delivery = delivery;
  }

  @Override
  public Iterator<MailboxMessage> findInMailbox(
      Mailbox mailbox, MessageRange set, FetchType type, int limit) throws MailboxException {
    return Calls.call(
        () -> {
          Iterator<StoredMessage> listed = listed(mailbox, set);
          return loader.load(
              id(mailbox), limit > 0 ? Iterators.limit(listed, limit) : listed, type);
        });
  }

  @Override
  public Flux<MailboxMessage> findInMailboxReactive(
      Mailbox mailbox, MessageRange set, FetchType type, int limit) {
    return Calls.flux(
        () -> {
          Iterator<MailboxMessage> found = findInMailbox(mailbox, set, type, limit);
          return () -> found;
        });
  }

  @Override
  public Flux<MessageUid> listAllMessageUids(Mailbox mailbox) {
    return Calls.flux(
        () -> {
          Iterator<StoredMessage> listed = listed(mailbox, MessageRange.all());
          return () -> Iterators.transform(listed, message -> MessageUid.of(message.uid()));
        });
  }

  private Iterator<StoredMessage> listed(Mailbox mailbox, MessageRange set) {
    return reads.messages(id(mailbox), range(set));
  }

  private static Uids.Range range(MessageRange set) {
    return new Uids.Range(set.getUidFrom().asLong(), set.getUidTo().asLong());
  }

  @Override
  public List<MessageUid> retrieveMessagesMarkedForDeletion(Mailbox mailbox, MessageRange set)
      throws MailboxException {
    return uids(mailbox, set, flags -> flags.has(StoredFlags.DELETED));
  }

  @Override
  public List<MessageUid> findRecentMessageUidsInMailbox(Mailbox mailbox) throws MailboxException {
    return uids(mailbox, MessageRange.all(), flags -> flags.has(StoredFlags.RECENT));
  }

  private List<MessageUid> uids(Mailbox mailbox, MessageRange set, Predicate<StoredFlags> which)
      throws MailboxException {
    return Calls.call(
        () -> {
          ImmutableList.Builder<MessageUid> uids = ImmutableList.builder();
          listed(mailbox, set)
              .forEachRemaining(
                  message -> {
                    if (which.test(message.flags())) {
                      uids.add(MessageUid.of(message.uid()));
                    }
                  });
          return uids.build();
        });
  }

  @Override
  public MessageUid findFirstUnseenMessageUid(Mailbox mailbox) throws MailboxException {
    return Calls.call(
        () -> {
          Iterator<StoredMessage> listed = listed(mailbox, MessageRange.all());
          while (listed.hasNext()) {
            StoredMessage message = listed.next();
            if (!message.flags().has(StoredFlags.SEEN)) {
              return MessageUid.of(message.uid());
            }
          }
          return null;
        });
  }

  private Numbers numbers(Mailbox mailbox) throws MailboxException {
    return Calls.call(
        () -> reads.numbers(id(mailbox)).orElseThrow(() -> new NoMailboxException(id(mailbox))));
  }

  @Override
  public long countMessagesInMailbox(Mailbox mailbox) throws MailboxException {
    return Math.max(0, numbers(mailbox).messages());
  }

  /** Counts of a store without exact ones may be anything; James refuses impossible ones. */
  @Override
  public MailboxCounters getMailboxCounters(Mailbox mailbox) throws MailboxException {
    Numbers numbers = numbers(mailbox);
    long messages = Math.max(0, numbers.messages());
    return MailboxCounters.builder()
        .mailboxId(mailbox.getMailboxId())
        .count(messages)
        .unseen(Math.max(0, Math.min(messages, numbers.unseen())))
        .build();
  }

  @Override
  public Optional<MessageUid> getLastUid(Mailbox mailbox) throws MailboxException {
    return lastUid(numbers(mailbox));
  }

  static Optional<MessageUid> lastUid(Numbers numbers) {
    return numbers.nextUid() == Numbers.INITIAL.nextUid()
        ? Optional.empty()
        : Optional.of(MessageUid.of(numbers.nextUid() - 1));
  }

  @Override
  public ModSeq getHighestModSeq(Mailbox mailbox) throws MailboxException {
    return ModSeq.of(numbers(mailbox).highestModSeq());
  }

  @Override
  public Flags getApplicableFlag(Mailbox mailbox) throws MailboxException {
    return JamesFlags.applicable(numbers(mailbox).keywords());
  }

  @Override
  public MessageMetaData add(Mailbox mailbox, MailboxMessage message) throws MailboxException {
    loader.store(message);
    StoredFlags flags = JamesFlags.stored(message.createFlags());
    StoredMessage stored = Calls.call(() -> deliver(id(mailbox), facts(message), flags));
    message.setUid(MessageUid.of(stored.uid()));
    message.setModSeq(ModSeq.of(stored.modSeq()));
    message.setSaveDate(Date.from(stored.saved()));
    return metaData(stored);
  }

  private StoredMessage deliver(UUID mailbox, MessageFacts facts, StoredFlags flags) {
    try {
      return delivery.isPresent()
          ? writes.deliverOnce(mailbox, delivery.get(), facts, flags, now())
          : writes.deliver(mailbox, facts, flags, now());
    } catch (NoMailboxException
        | NotChangedException
        | TooManyKeywordsException
        | DeliveredBeforeException e) {
      contents.removeUnplaced(List.of(facts.messageId())); // It is certain that nobody lists it.
      throw e;
    }
  }

  @Override
  public Iterator<UpdatedFlags> updateFlags(
      Mailbox mailbox, FlagsUpdateCalculator calculator, MessageRange set) throws MailboxException {
    return Calls.call(
        () -> {
          List<UpdatedFlags> updated = new ArrayList<>();
          for (Uids.Range piece : pieces(mailbox, set)) {
            List<FlagChange> changes =
                writes.change(
                    id(mailbox), piece, view -> MailboxChanges.flag(view, newFlags(calculator)));
            changes.forEach(change -> updated.add(updated(change)));
          }
          return updated.iterator();
        });
  }

  static UnaryOperator<StoredFlags> newFlags(FlagsUpdateCalculator calculator) {
    return before -> JamesFlags.stored(calculator.buildNewFlags(JamesFlags.flags(before)));
  }

  /** Ranges of as many messages as one change may have. */
  private List<Uids.Range> pieces(Mailbox mailbox, MessageRange set) {
    if (set.getType() == MessageRange.Type.ONE) {
      return List.of(range(set));
    }
    List<Uids.Range> pieces = new ArrayList<>();
    Iterators.partition(listed(mailbox, set), Uids.MAX_OF_A_CHANGE)
        .forEachRemaining(
            piece ->
                pieces.add(new Uids.Range(piece.get(0).uid(), piece.get(piece.size() - 1).uid())));
    return pieces;
  }

  static UpdatedFlags updated(FlagChange change) {
    return UpdatedFlags.builder()
        .uid(MessageUid.of(change.after().uid()))
        .messageId(new UuidMessageId(change.after().facts().messageId()))
        .modSeq(ModSeq.of(change.after().modSeq()))
        .oldFlags(JamesFlags.flags(change.before()))
        .newFlags(JamesFlags.flags(change.after().flags()))
        .build();
  }

  @Override
  public void delete(Mailbox mailbox, MailboxMessage message) throws MailboxException {
    Map<MessageUid, MessageMetaData> unused = deleteMessages(mailbox, List.of(message.getUid()));
  }

  @Override
  public Map<MessageUid, MessageMetaData> deleteMessages(Mailbox mailbox, List<MessageUid> uids)
      throws MailboxException {
    return Calls.call(
        () -> {
          Map<MessageUid, MessageMetaData> deleted = new TreeMap<>();
          for (List<MessageUid> piece : Lists.partition(uids, Uids.MAX_OF_A_CHANGE)) {
            for (StoredMessage message : expunge(writes, contents, id(mailbox), piece)) {
              deleted.put(MessageUid.of(message.uid()), metaData(message));
            }
          }
          return deleted;
        });
  }

  /** Removes messages, and the content of those that are in no other mailbox. */
  static List<StoredMessage> expunge(
      MailboxWrites writes, Contents contents, UUID mailbox, List<MessageUid> uids) {
    List<StoredMessage> removed =
        writes.change(
            mailbox,
            new Uids.Those(uids.stream().map(MessageUid::asLong).toList()),
            MailboxChanges::expunge);
    contents.removeUnplaced(removed.stream().map(message -> message.facts().messageId()).toList());
    return removed;
  }

  @Override
  public MessageMetaData copy(Mailbox mailbox, MailboxMessage original) throws MailboxException {
    return Calls.call(
        () -> {
          MailboxReads.Place from = place(original);
          return metaData(
              writes.copy(
                  from.mailbox(), from.message().uid(), id(mailbox), recent(original), now()));
        });
  }

  @Override
  public MessageMetaData move(Mailbox mailbox, MailboxMessage original) throws MailboxException {
    return Calls.call(
        () ->
            metaData(
                writes.move(
                    UuidMailboxId.of(original.getMailboxId()),
                    original.getUid().asLong(),
                    id(mailbox),
                    recent(original),
                    now())));
  }

  /** Where to copy from. A message without a UID of its own was listed somewhere before. */
  private MailboxReads.Place place(MailboxMessage original) {
    if (original.getUid() != null) {
      UUID mailbox = UuidMailboxId.of(original.getMailboxId());
      long uid = original.getUid().asLong();
      return new MailboxReads.Place(
          mailbox, reads.message(mailbox, uid).orElseThrow(() -> new NoMessageException(uid)));
    }
    return reads.places(UuidMessageId.of(original.getMessageId())).stream()
        .findFirst()
        .orElseThrow(() -> new NoMessageException(0));
  }

  private static StoredFlags recent(MailboxMessage original) {
    Flags flags = original.createFlags();
    flags.add(Flags.Flag.RECENT);
    return JamesFlags.stored(flags);
  }

  static MessageFacts facts(MailboxMessage message) {
    return new MessageFacts(
        UuidMessageId.of(message.getMessageId()),
        UuidMessageId.of(message.getThreadId().getBaseMessageId()),
        message.getInternalDate().toInstant(),
        message.getFullContentOctets(),
        Math.toIntExact(message.getHeaderOctets()));
  }

  static MessageMetaData metaData(StoredMessage message) {
    return new MessageMetaData(
        MessageUid.of(message.uid()),
        ModSeq.of(message.modSeq()),
        JamesFlags.flags(message.flags()),
        message.facts().sizeBytes(),
        Date.from(message.facts().received()),
        Optional.of(Date.from(message.saved())),
        new UuidMessageId(message.facts().messageId()),
        ThreadId.fromBaseMessageId(new UuidMessageId(message.facts().threadId())));
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MILLIS);
  }

  private static UUID id(Mailbox mailbox) {
    return UuidMailboxId.of(mailbox.getMailboxId());
  }
}
