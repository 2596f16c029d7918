// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Every change that a mailbox can go through, decided from what it is. No input and no output. */
public final class MailboxChanges {
  private MailboxChanges() {}

  /** Gives a message the next UID and the next modification sequence. */
  public static MailboxChange<StoredMessage> deliver(
      MailboxView view, MessageFacts facts, StoredFlags flags, Instant saved) {
    Numbers after =
        view.numbers().numbered().modified().plus(1, flags.unseen()).knowing(flags.keywords());
    StoredMessage message =
        new StoredMessage(view.numbers().nextUid(), after.highestModSeq(), flags, saved, facts);
    return new MailboxChange<>(after, List.of(message), List.of(), List.of(), message);
  }

  /**
   * Lists a message whose UID and modification sequence were given before. If the UID is there, the
   * message takes its place.
   *
   * @param view with the message of that UID, if there is one
   */
  public static MailboxChange<StoredMessage> list(MailboxView view, StoredMessage message) {
    long before = view.messages().size();
    long unseenBefore = view.messages().stream().mapToInt(old -> old.flags().unseen()).sum();
    Numbers after =
        view.numbers()
            .atLeast(message.uid(), message.modSeq())
            .plus(1 - before, message.flags().unseen() - unseenBefore)
            .knowing(message.flags().keywords());
    return new MailboxChange<>(after, List.of(message), List.of(), List.of(), message);
  }

  /** Changes flags of the messages in view. Those that change have one modification sequence. */
  public static MailboxChange<List<FlagChange>> flag(
      MailboxView view, UnaryOperator<StoredFlags> newFlags) {
    long modSeq = view.numbers().highestModSeq() + 1;
    List<StoredMessage> flagged = new ArrayList<>();
    List<FlagChange> answer = new ArrayList<>();
    Numbers after = view.numbers();
    for (StoredMessage message : view.messages()) {
      StoredFlags before = message.flags();
      StoredFlags flags = newFlags.apply(before);
      if (flags.equals(before)) {
        answer.add(new FlagChange(before, message));
        continue;
      }
      StoredMessage changed = message.flagged(flags, modSeq);
      flagged.add(changed);
      answer.add(new FlagChange(before, changed));
      after = after.plus(0, flags.unseen() - before.unseen()).knowing(flags.keywords());
    }
    return new MailboxChange<>(
        flagged.isEmpty() ? after : after.modified(), List.of(), flagged, List.of(), answer);
  }

  /** Removes the messages in view. */
  public static MailboxChange<List<StoredMessage>> expunge(MailboxView view) {
    List<StoredMessage> removed = view.messages();
    long unseen = removed.stream().mapToInt(message -> message.flags().unseen()).sum();
    Numbers after =
        removed.isEmpty()
            ? view.numbers()
            : view.numbers().modified().plus(-removed.size(), -unseen);
    return new MailboxChange<>(after, List.of(), List.of(), removed, removed);
  }

  /** Gives a UID for a message that is listed later. */
  public static MailboxChange<Long> giveUid(MailboxView view) {
    return MailboxChange.ofNumbers(view.numbers().numbered(), view.numbers().nextUid());
  }

  /** Gives a modification sequence for a message that is listed later. */
  public static MailboxChange<Long> giveModSeq(MailboxView view) {
    Numbers after = view.numbers().modified();
    return MailboxChange.ofNumbers(after, after.highestModSeq());
  }
}
