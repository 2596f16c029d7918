// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import com.google.common.collect.ImmutableList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.mail.Flags;
import org.apache.james.mailbox.MessageUid;
import org.apache.james.mailbox.ModSeq;
import org.apache.james.mailbox.model.Mailbox;
import org.apache.james.mailbox.model.MailboxCounters;
import org.apache.james.mailbox.model.MessageMetaData;
import org.apache.james.mailbox.model.MessageRange;
import org.apache.james.mailbox.model.UpdatedFlags;
import org.apache.james.mailbox.store.FlagsUpdateCalculator;
import org.apache.james.mailbox.store.mail.MessageMapper;
import org.apache.james.mailbox.store.mail.model.MailboxMessage;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Waits where it is called, as {@link Calls} do. James's defaults move to threads of Reactor. */
interface WaitingMessageMapper extends MessageMapper {

  @Override
  default Flux<MessageUid> retrieveMessagesMarkedForDeletionReactive(
      Mailbox mailbox, MessageRange set) {
    return Calls.flux(() -> retrieveMessagesMarkedForDeletion(mailbox, set));
  }

  @Override
  default Mono<MailboxCounters> getMailboxCountersReactive(Mailbox mailbox) {
    return Calls.mono(() -> getMailboxCounters(mailbox));
  }

  @Override
  default Mono<Map<MessageUid, MessageMetaData>> deleteMessagesReactive(
      Mailbox mailbox, List<MessageUid> uids) {
    return Calls.mono(() -> deleteMessages(mailbox, uids));
  }

  @Override
  default Mono<Optional<MessageUid>> findFirstUnseenMessageUidReactive(Mailbox mailbox) {
    return Calls.mono(() -> Optional.ofNullable(findFirstUnseenMessageUid(mailbox)));
  }

  @Override
  default Mono<List<MessageUid>> findRecentMessageUidsInMailboxReactive(Mailbox mailbox) {
    return Calls.mono(() -> findRecentMessageUidsInMailbox(mailbox));
  }

  @Override
  default Mono<MessageMetaData> addReactive(Mailbox mailbox, MailboxMessage message) {
    return Calls.mono(() -> add(mailbox, message));
  }

  @Override
  default Mono<List<UpdatedFlags>> updateFlagsReactive(
      Mailbox mailbox, FlagsUpdateCalculator calculator, MessageRange set) {
    return Calls.mono(() -> ImmutableList.copyOf(updateFlags(mailbox, calculator, set)));
  }

  @Override
  default Mono<List<UpdatedFlags>> resetRecentReactive(Mailbox mailbox) {
    return Calls.mono(() -> resetRecent(mailbox));
  }

  @Override
  default Mono<MessageMetaData> copyReactive(Mailbox mailbox, MailboxMessage original) {
    return Calls.mono(() -> copy(mailbox, original));
  }

  @Override
  default Mono<List<MessageMetaData>> copyReactive(
      Mailbox mailbox, List<MailboxMessage> originals) {
    return Calls.mono(() -> copy(mailbox, originals));
  }

  @Override
  default Mono<MessageMetaData> moveReactive(Mailbox mailbox, MailboxMessage original) {
    return Calls.mono(() -> move(mailbox, original));
  }

  @Override
  default Mono<Optional<MessageUid>> getLastUidReactive(Mailbox mailbox) {
    return Calls.mono(() -> getLastUid(mailbox));
  }

  @Override
  default Mono<ModSeq> getHighestModSeqReactive(Mailbox mailbox) {
    return Calls.mono(() -> getHighestModSeq(mailbox));
  }

  @Override
  default Mono<Flags> getApplicableFlagReactive(Mailbox mailbox) {
    return Calls.mono(() -> getApplicableFlag(mailbox));
  }
}
