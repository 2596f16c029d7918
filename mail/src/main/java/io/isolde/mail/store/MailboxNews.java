// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/**
 * What the sessions of a server know of a mailbox. From it follows what other servers have changed.
 * No input and no output; one thread at a time.
 *
 * <p>It has about 24 bytes for each message, since a server may have thousands of mailboxes open.
 */
public final class MailboxNews {

  /** Of more changes that came without a look at the mailbox, all of it has to be read. */
  private static final int MAX_HEARD = 10_000;

  private long[] uids = new long[16];
  private long[] modSeqs = new long[16];
  private StoredFlags[] flags = new StoredFlags[16];
  private int size;

  /** All changes up to here are known. */
  private long completeModSeq;

  /** Changes beyond that are known, too. */
  private final Set<Long> heardModSeqs = new HashSet<>();

  /** Whether the mailbox is being read, and of which messages something was heard meanwhile. */
  private boolean isReading;

  private final Set<Long> heardWhileReading = new HashSet<>();

  /**
   * What others have changed.
   *
   * @param removed UIDs
   */
  public record News(List<StoredMessage> added, List<FlagChange> flagged, List<Long> removed) {
    public News {
      added = List.copyOf(added);
      flagged = List.copyOf(flagged);
      removed = List.copyOf(removed);
    }
  }

  /**
   * Knows a mailbox as it was read.
   *
   * @param numbers read before the messages
   * @param messages by ascending UID
   */
  public MailboxNews(Numbers numbers, Iterator<StoredMessage> messages) {
    while (messages.hasNext()) {
      StoredMessage message = messages.next();
      put(message.uid(), message.modSeq(), message.flags());
    }
    completeModSeq = numbers.highestModSeq();
  }

  /** The sessions of this server have heard of a message, or of new flags. */
  public void heard(long uid, long modSeq, StoredFlags newFlags) {
    int index = index(uid);
    if (index < 0 || modSeqs[index] < modSeq) {
      put(uid, modSeq, newFlags);
    }
    if (modSeq > completeModSeq && heardModSeqs.size() < MAX_HEARD) {
      heardModSeqs.add(modSeq);
    }
    noteWhileReading(uid);
  }

  /** The sessions of this server have heard that a message has gone. */
  public void heardRemoved(long uid) {
    int index = index(uid);
    if (index >= 0) {
      remove(index);
    }
    noteWhileReading(uid);
  }

  private void noteWhileReading(long uid) {
    if (isReading) {
      heardWhileReading.add(uid);
    }
  }

  /**
   * The mailbox will be read from now on. What is heard meanwhile may be newer than what is read.
   */
  public void startReading() {
    isReading = true;
    heardWhileReading.clear();
  }

  /** The mailbox is read no more, and what was read does not count. */
  public void stopReading() {
    isReading = false;
    heardWhileReading.clear();
  }

  /** The UID of the first message that nobody here can know. */
  public long firstUnknownUid() {
    return size == 0 ? 1 : uids[size - 1] + 1;
  }

  /** Whether something has changed that is not known. If not, what was heard is complete. */
  public boolean isBehind(Numbers read) {
    if (!isComplete(read, List.of())) {
      return true;
    }
    knowUpTo(read);
    return false;
  }

  /** Whether new messages explain each change up to the numbers that were read before them. */
  public boolean isComplete(Numbers read, List<StoredMessage> newMessages) {
    if (read.highestModSeq() - completeModSeq > MAX_HEARD) {
      return false;
    }
    Set<Long> explained = new HashSet<>(heardModSeqs);
    newMessages.forEach(message -> explained.add(message.modSeq()));
    for (long modSeq = completeModSeq + 1; modSeq <= read.highestModSeq(); modSeq++) {
      if (!explained.contains(modSeq)) {
        return false;
      }
    }
    return true;
  }

  /** What is new, if new messages are all that is: {@link #isComplete}. */
  public News withNew(Numbers read, List<StoredMessage> newMessages) {
    List<StoredMessage> added = new ArrayList<>();
    List<FlagChange> flagged = new ArrayList<>();
    newMessages.forEach(message -> compare(message, added, flagged));
    return read(read, new News(added, flagged, List.of()));
  }

  /**
   * What is new in a mailbox that was read as a whole.
   *
   * @param read the numbers, read before the messages
   * @param messages by ascending UID
   */
  public News withAll(Numbers read, Iterator<StoredMessage> messages) {
    List<StoredMessage> added = new ArrayList<>();
    List<FlagChange> flagged = new ArrayList<>();
    Set<Long> gone = new HashSet<>();
    for (int i = 0; i < size; i++) {
      gone.add(uids[i]);
    }
    while (messages.hasNext()) {
      StoredMessage message = messages.next();
      gone.remove(message.uid());
      compare(message, added, flagged);
    }
    boolean isCertain =
        gone.stream().noneMatch(uid -> uid < read.nextUid() && heardWhileReading.contains(uid));
    gone.removeAll(heardWhileReading);
    List<Long> removed = gone.stream().sorted().toList();
    removed.forEach(uid -> remove(index(uid)));
    News news = new News(added, flagged, removed);
    if (isCertain) {
      return read(read, news);
    }
    // Another server may have removed it since this one heard of it. The next look tells.
    stopReading();
    return news;
  }

  private void compare(StoredMessage message, List<StoredMessage> added, List<FlagChange> flagged) {
    int index = index(message.uid());
    if (index < 0) {
      if (heardWhileReading.contains(message.uid())) {
        return; // it has gone meanwhile
      }
      added.add(message);
    } else if (modSeqs[index] >= message.modSeq()) {
      return;
    } else if (!flags[index].equals(message.flags())) {
      flagged.add(new FlagChange(flags[index], message));
    }
    put(message.uid(), message.modSeq(), message.flags());
  }

  private News read(Numbers read, News news) {
    knowUpTo(read);
    stopReading();
    return news;
  }

  private void knowUpTo(Numbers read) {
    completeModSeq = Math.max(completeModSeq, read.highestModSeq());
    heardModSeqs.removeIf(modSeq -> modSeq <= completeModSeq);
  }

  private int index(long uid) {
    return Arrays.binarySearch(uids, 0, size, uid);
  }

  private void put(long uid, long modSeq, StoredFlags newFlags) {
    int index = index(uid);
    if (index < 0) {
      index = -index - 1;
      if (size == uids.length) {
        uids = Arrays.copyOf(uids, 2 * size);
        modSeqs = Arrays.copyOf(modSeqs, 2 * size);
        flags = Arrays.copyOf(flags, 2 * size);
      }
      move(index, index + 1, size - index);
      uids[index] = uid;
      size++;
    }
    modSeqs[index] = modSeq;
    flags[index] = newFlags;
  }

  private void remove(int index) {
    move(index + 1, index, size - index - 1);
    size--;
    flags[size] = null;
  }

  private void move(int from, int to, int count) {
    System.arraycopy(uids, from, uids, to, count);
    System.arraycopy(modSeqs, from, modSeqs, to, count);
    System.arraycopy(flags, from, flags, to, count);
  }
}
