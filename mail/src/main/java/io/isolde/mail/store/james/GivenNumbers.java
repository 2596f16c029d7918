// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import io.isolde.mail.store.MailboxChanges;
import io.isolde.mail.store.NoMailboxException;
import io.isolde.mail.store.Numbers;
import io.isolde.mail.store.Uids;
import io.isolde.mail.store.cql.MailboxStore;
import java.util.Optional;
import java.util.UUID;
import org.apache.james.mailbox.MessageUid;
import org.apache.james.mailbox.ModSeq;
import org.apache.james.mailbox.exception.MailboxException;
import org.apache.james.mailbox.model.Mailbox;
import org.apache.james.mailbox.model.MailboxId;
import org.apache.james.mailbox.store.mail.ModSeqProvider;
import org.apache.james.mailbox.store.mail.UidProvider;

/**
 * Numbers by themselves, for those parts of James that list a message later. Deliveries and flags
 * don't need this: there the numbers are given with the change.
 */
final class GivenNumbers implements UidProvider, ModSeqProvider {
  private final MailboxStore store;

  GivenNumbers(MailboxStore store) {
    this.store = store;
  }

  @Override
  public MessageUid nextUid(Mailbox mailbox) throws MailboxException {
    return nextUid(mailbox.getMailboxId());
  }

  @Override
  public MessageUid nextUid(MailboxId id) throws MailboxException {
    return Calls.call(
        () ->
            MessageUid.of(
                store.writes().change(UuidMailboxId.of(id), Uids.NONE, MailboxChanges::giveUid)));
  }

  @Override
  public Optional<MessageUid> lastUid(Mailbox mailbox) throws MailboxException {
    return CqlMessageMapper.lastUid(numbers(mailbox.getMailboxId()));
  }

  @Override
  public ModSeq nextModSeq(Mailbox mailbox) throws MailboxException {
    return nextModSeq(mailbox.getMailboxId());
  }

  @Override
  public ModSeq nextModSeq(MailboxId id) throws MailboxException {
    return Calls.call(
        () ->
            ModSeq.of(
                store
                    .writes()
                    .change(UuidMailboxId.of(id), Uids.NONE, MailboxChanges::giveModSeq)));
  }

  @Override
  public ModSeq highestModSeq(Mailbox mailbox) throws MailboxException {
    return highestModSeq(mailbox.getMailboxId());
  }

  @Override
  public ModSeq highestModSeq(MailboxId id) throws MailboxException {
    return ModSeq.of(numbers(id).highestModSeq());
  }

  private Numbers numbers(MailboxId id) throws MailboxException {
    UUID mailbox = UuidMailboxId.of(id);
    return Calls.call(
        () -> store.reads().numbers(mailbox).orElseThrow(() -> new NoMailboxException(mailbox)));
  }
}
