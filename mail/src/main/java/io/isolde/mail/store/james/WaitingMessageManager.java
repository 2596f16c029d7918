// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import java.io.IOException;
import java.time.Instant;
import java.util.Date;
import java.util.Optional;
import java.util.function.Function;
import javax.mail.Flags;
import org.apache.james.events.EventBus;
import org.apache.james.mailbox.MailboxSession;
import org.apache.james.mailbox.events.MailboxIdRegistrationKey;
import org.apache.james.mailbox.exception.MailboxException;
import org.apache.james.mailbox.exception.ReadOnlyException;
import org.apache.james.mailbox.model.ComposedMessageId;
import org.apache.james.mailbox.model.Content;
import org.apache.james.mailbox.model.FetchGroup;
import org.apache.james.mailbox.model.Mailbox;
import org.apache.james.mailbox.model.MessageMetaData;
import org.apache.james.mailbox.model.MessageRange;
import org.apache.james.mailbox.model.MessageResult;
import org.apache.james.mailbox.model.MessageResultIterator;
import org.apache.james.mailbox.store.BatchSizes;
import org.apache.james.mailbox.store.MailboxReactorUtils;
import org.apache.james.mailbox.store.MailboxSessionMapperFactory;
import org.apache.james.mailbox.store.MessageStorer;
import org.apache.james.mailbox.store.NoMailboxPathLocker;
import org.apache.james.mailbox.store.PreDeletionHooks;
import org.apache.james.mailbox.store.StoreMailboxManager;
import org.apache.james.mailbox.store.StoreMessageManager;
import org.apache.james.mailbox.store.StoreRightManager;
import org.apache.james.mailbox.store.event.EventFactory;
import org.apache.james.mailbox.store.quota.QuotaComponents;
import org.apache.james.mailbox.store.search.MessageSearchIndex;
import org.apache.james.mime4j.MimeException;
import reactor.core.publisher.Mono;

/**
 * A mailbox of James that works where it is asked, as {@link Calls} do. It never passes a part of
 * its messages off as all of them.
 */
final class WaitingMessageManager extends StoreMessageManager {
  private final EventBus events;
  private final MessageStorer storer;

  WaitingMessageManager(
      MailboxSessionMapperFactory mappers,
      MessageSearchIndex search,
      EventBus events,
      Mailbox mailbox,
      QuotaComponents quotas,
      StoreRightManager rights,
      PreDeletionHooks hooks,
      MessageStorer storer) {
    super(
        StoreMailboxManager.DEFAULT_NO_MESSAGE_CAPABILITIES,
        mappers,
        search,
        events,
        new NoMailboxPathLocker(),
        mailbox,
        quotas.getQuotaManager(),
        quotas.getQuotaRootResolver(),
        BatchSizes.defaultValues(),
        rights,
        hooks,
        storer);
    this.events = events;
    this.storer = storer;
  }

  @Override
  public AppendResult appendMessage(AppendCommand command, MailboxSession session)
      throws MailboxException {
    return MailboxReactorUtils.block(appendMessageReactive(command, session));
  }

  /** As James does it, but there are no quotas, and no thread of Reactor is needed. */
  @Override
  public Mono<AppendResult> appendMessageReactive(AppendCommand command, MailboxSession session) {
    return Calls.mono(() -> append(command, session)).flatMap(Function.identity());
  }

  private Mono<AppendResult> append(AppendCommand command, MailboxSession session)
      throws MailboxException {
    if (!isWriteable(session)) {
      throw new ReadOnlyException(getMailboxPath());
    }
    Content content = command.getMsgIn();
    ParsedMessage parsed;
    try {
      parsed = ParsedMessage.of(content);
    } catch (IOException | MimeException e) {
      throw new MailboxException("The message can't be parsed", e);
    }
    Date received =
        command.getInternalDate() == null ? Date.from(Instant.now()) : command.getInternalDate();
    return storer
        .appendMessageToStore(
            getMailboxEntity(),
            received,
            Math.toIntExact(content.size()),
            parsed.bodyStart(),
            content,
            flags(command),
            parsed.properties(),
            command.getMaybeParsedMessage(),
            session,
            parsed.header())
        .flatMap(
            stored ->
                announce(stored.getLeft(), command.isDelivery(), session)
                    .thenReturn(result(stored.getLeft())));
  }

  /** The caller's own flags change, too, as James' tests want it. */
  private static Flags flags(AppendCommand command) {
    Flags flags = command.getFlags();
    if (command.isRecent()) {
      flags.add(Flags.Flag.RECENT);
    }
    return flags;
  }

  /** Users may give flags of their own names; James drops those by default. */
  @Override
  public Flags getPermanentFlags(MailboxSession session) {
    Flags flags = super.getPermanentFlags(session);
    flags.add(Flags.Flag.USER);
    return flags;
  }

  private Mono<Void> announce(MessageMetaData message, boolean isDelivery, MailboxSession session) {
    return events.dispatch(
        EventFactory.added()
            .randomEventId()
            .mailboxSession(session)
            .mailbox(getMailboxEntity())
            .addMetaData(message)
            .isDelivery(isDelivery)
            .build(),
        new MailboxIdRegistrationKey(getId()));
  }

  private AppendResult result(MessageMetaData message) {
    return new AppendResult(
        new ComposedMessageId(getId(), message.getMessageId(), message.getUid()),
        message.getSize(),
        Optional.empty(),
        message.getThreadId());
  }

  /**
   * Fails where James' iterator would end after an error which only {@link
   * MessageResultIterator#getException} reports.
   */
  @Override
  public MessageResultIterator getMessages(
      MessageRange range, FetchGroup group, MailboxSession session) {
    return new Whole(super.getMessages(range, group, session));
  }

  private record Whole(MessageResultIterator found) implements MessageResultIterator {
    @Override
    public boolean hasNext() {
      boolean hasNext = Calls.unchecked(found::hasNext);
      MailboxException failure = found.getException();
      if (!hasNext && failure != null) {
        throw new IllegalStateException("The messages can't all be read", failure);
      }
      return hasNext;
    }

    @Override
    public MessageResult next() {
      return Calls.unchecked(found::next);
    }

    @Override
    public MailboxException getException() {
      return found.getException();
    }
  }
}
