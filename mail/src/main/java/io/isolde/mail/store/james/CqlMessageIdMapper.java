// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableListMultimap;
import com.google.common.collect.Iterators;
import com.google.common.collect.Multimap;
import io.isolde.mail.store.FlagChange;
import io.isolde.mail.store.MailboxChanges;
import io.isolde.mail.store.MailboxWrites;
import io.isolde.mail.store.NoMailboxException;
import io.isolde.mail.store.StoredMessage;
import io.isolde.mail.store.Uids;
import io.isolde.mail.store.cql.Contents;
import io.isolde.mail.store.cql.MailboxReads;
import io.isolde.mail.store.cql.MailboxStore;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import javax.mail.Flags;
import org.apache.james.mailbox.MessageManager;
import org.apache.james.mailbox.MessageUid;
import org.apache.james.mailbox.exception.MailboxException;
import org.apache.james.mailbox.model.ComposedMessageIdWithMetaData;
import org.apache.james.mailbox.model.Mailbox;
import org.apache.james.mailbox.model.MailboxId;
import org.apache.james.mailbox.model.MessageId;
import org.apache.james.mailbox.model.UpdatedFlags;
import org.apache.james.mailbox.store.FlagsUpdateCalculator;
import org.apache.james.mailbox.store.mail.MessageIdMapper;
import org.apache.james.mailbox.store.mail.MessageMapper.FetchType;
import org.apache.james.mailbox.store.mail.model.MailboxMessage;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Messages by id, in whichever mailboxes they are. A change is one for each mailbox. */
final class CqlMessageIdMapper implements MessageIdMapper {
  private final MailboxReads reads;
  private final MailboxWrites writes;
  private final Contents contents;
  private final MessageLoader loader;
  private final Clock clock;

  CqlMessageIdMapper(MailboxStore store, Clock clock) {
    this.reads = store.reads();
    this.writes = store.writes();
    this.contents = store.contents();
    this.loader = new MessageLoader(store);
    this.clock = clock;
  }

  @Override
  public List<MailboxMessage> find(Collection<MessageId> messageIds, FetchType fetchType) {
    return Calls.unchecked(
        () -> {
          ImmutableList.Builder<MailboxMessage> found = ImmutableList.builder();
          for (MessageId messageId : new HashSet<>(messageIds)) {
            for (MailboxReads.Place place : reads.places(UuidMessageId.of(messageId))) {
              found.addAll(
                  loader.load(
                      place.mailbox(), Iterators.singletonIterator(place.message()), fetchType));
            }
          }
          return found.build();
        });
  }

  @Override
  public Flux<MailboxMessage> findReactive(Collection<MessageId> messageIds, FetchType fetchType) {
    return Calls.flux(() -> find(messageIds, fetchType));
  }

  @Override
  public Flux<ComposedMessageIdWithMetaData> findMetadata(MessageId messageId) {
    return findReactive(List.of(messageId), FetchType.METADATA)
        .map(MailboxMessage::getComposedMessageIdWithMetaData);
  }

  @Override
  public List<MailboxId> findMailboxes(MessageId messageId) {
    return Calls.unchecked(
        () ->
            reads.places(UuidMessageId.of(messageId)).stream()
                .<MailboxId>map(place -> new UuidMailboxId(place.mailbox()))
                .toList());
  }

  @Override
  public void save(MailboxMessage message) throws MailboxException {
    UUID mailbox = UuidMailboxId.of(message.getMailboxId());
    Calls.call(
        () -> {
          // Else its content would be stored for nothing.
          var unused = reads.numbers(mailbox).orElseThrow(() -> new NoMailboxException(mailbox));
          loader.store(message);
          return list(mailbox, message);
        });
  }

  @Override
  public void copyInMailbox(MailboxMessage message, Mailbox mailbox) throws MailboxException {
    UUID to = UuidMailboxId.of(mailbox.getMailboxId());
    Calls.call(
        () -> {
          boolean isThere =
              reads.places(UuidMessageId.of(message.getMessageId())).stream()
                  .anyMatch(place -> place.mailbox().equals(to));
          return isThere ? null : list(to, message);
        });
  }

  private StoredMessage list(UUID mailbox, MailboxMessage message) {
    long uid = message.getUid().asLong();
    StoredMessage listed =
        new StoredMessage(
            uid,
            message.getModSeq().asLong(),
            JamesFlags.stored(message.createFlags()),
            clock.instant().truncatedTo(ChronoUnit.MILLIS),
            CqlMessageMapper.facts(message));
    return writes.change(
        mailbox, new Uids.Those(List.of(uid)), view -> MailboxChanges.list(view, listed));
  }

  @Override
  public void delete(MessageId messageId) {
    delete(messageId, place -> true);
  }

  @Override
  public void delete(MessageId messageId, Collection<MailboxId> mailboxIds) {
    Set<UUID> mailboxes = uuids(mailboxIds);
    delete(messageId, place -> mailboxes.contains(place.mailbox()));
  }

  private void delete(MessageId messageId, Predicate<MailboxReads.Place> which) {
    Calls.unchecked(
        () -> {
          uidsByMailbox(messageId, which)
              .forEach(
                  (mailbox, uids) -> {
                    List<StoredMessage> unused =
                        CqlMessageMapper.expunge(
                            writes, contents, mailbox, uids.stream().map(MessageUid::of).toList());
                  });
          return null;
        });
  }

  @Override
  public Mono<Multimap<MailboxId, UpdatedFlags>> setFlags(
      MessageId messageId,
      List<MailboxId> mailboxIds,
      Flags newState,
      MessageManager.FlagsUpdateMode updateMode) {
    Set<UUID> mailboxes = uuids(mailboxIds);
    FlagsUpdateCalculator calculator = new FlagsUpdateCalculator(newState, updateMode);
    return Calls.mono(
        () -> {
          ImmutableListMultimap.Builder<MailboxId, UpdatedFlags> updated =
              ImmutableListMultimap.builder();
          uidsByMailbox(messageId, place -> mailboxes.contains(place.mailbox()))
              .forEach(
                  (mailbox, uids) -> {
                    List<FlagChange> changes =
                        writes.change(
                            mailbox,
                            new Uids.Those(uids),
                            view ->
                                MailboxChanges.flag(view, CqlMessageMapper.newFlags(calculator)));
                    changes.forEach(
                        change ->
                            updated.put(
                                new UuidMailboxId(mailbox), CqlMessageMapper.updated(change)));
                  });
          return updated.build();
        });
  }

  private Map<UUID, List<Long>> uidsByMailbox(
      MessageId messageId, Predicate<MailboxReads.Place> which) {
    return reads.places(UuidMessageId.of(messageId)).stream()
        .filter(which)
        .collect(
            Collectors.groupingBy(
                MailboxReads.Place::mailbox,
                Collectors.mapping(
                    place -> place.message().uid(), Collectors.toCollection(ArrayList::new))));
  }

  private static Set<UUID> uuids(Collection<MailboxId> ids) {
    return ids.stream().map(UuidMailboxId::of).collect(Collectors.toSet());
  }
}
