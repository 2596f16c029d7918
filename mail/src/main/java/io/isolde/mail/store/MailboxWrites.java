// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import java.time.Instant;
import java.util.UUID;
import java.util.function.Function;

/**
 * How a store makes changes. Whether two of them at the same time can hurt each other, and what a
 * crash leaves, is up to the store; docs/mail.md has the table.
 */
public interface MailboxWrites {

  /**
   * Reads a mailbox, decides, and writes the decision.
   *
   * @param read which messages the decision must see, {@link Uids#MAX_OF_A_CHANGE} at most
   * @param decision may be called again; it changes nothing else
   * @throws NoMailboxException if there is no such mailbox
   */
  <T> T change(UUID mailbox, Uids read, Function<MailboxView, MailboxChange<T>> decision);

  /**
   * Lists a new message whose content is stored.
   *
   * @throws NoMailboxException if there is no such mailbox
   */
  StoredMessage deliver(UUID mailbox, MessageFacts facts, StoredFlags flags, Instant saved);

  /**
   * As {@link #deliver}, once for each id within {@link DeliveryId#REMEMBERED}: who does not know
   * the outcome may call it again, also with another message.
   *
   * @throws DeliveredBeforeException if the id has brought another message before
   * @throws NoMailboxException if there is no such mailbox
   */
  StoredMessage deliverOnce(
      UUID mailbox, DeliveryId id, MessageFacts facts, StoredFlags flags, Instant saved);

  /**
   * Lists a message in another mailbox, too.
   *
   * @param uid of the message in its mailbox
   * @throws NoMailboxException if one of the mailboxes is not there
   * @throws NoMessageException if the message is gone
   */
  StoredMessage copy(UUID from, long uid, UUID to, StoredFlags flags, Instant saved);

  /** As {@link #copy}, and removes it from where it was. */
  StoredMessage move(UUID from, long uid, UUID to, StoredFlags flags, Instant saved);

  /** Creates a mailbox, unless its name is taken: then returns false. */
  boolean create(NamedMailbox mailbox);

  /** Gives a mailbox another name, unless that is taken or the mailbox is not as given. */
  boolean rename(NamedMailbox from, NamedMailbox to);

  /** Gives a mailbox other rights, unless it is not as given. */
  boolean changeRights(NamedMailbox from, NamedMailbox to);

  /** Removes a mailbox and its list of messages, unless it is not as given. */
  boolean delete(NamedMailbox mailbox);
}
