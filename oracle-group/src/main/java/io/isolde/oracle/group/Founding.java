// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.DurableFile;
import io.isolde.raft.Peer;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Decides when a member that has no log may start with an empty one.
 *
 * <p>A member that lost its disk must not: it may have voted, and taken part in decisions, of which
 * it no longer knows. From the inside it looks like one that never started. So the founders ask one
 * another first, in two steps. Who hears from all others that they have no log either writes that
 * down: there is no group yet, so it can't have voted. Who hears from all others that they have
 * written it down starts. Who has neither a log nor that note, and hears that the group exists, has
 * lost its disk, or was removed.
 */
final class Founding {
  /** What a founder answers to another. */
  enum Reply {
    /** It has no log. */
    NOT_FOUNDED(1),
    /** It has a log. */
    FOUNDED(2),
    /** It is not ready to tell. */
    NOT_YET(3),
    /** It is configured with other founders. */
    OTHER_FOUNDERS(4),
    /** It has no log, and knows that there was no group when it noted that. */
    READY(5);

    private final int code;

    Reply(int code) {
      this.code = code;
    }

    ByteBuf writeTo(ByteBuf out) {
      return out.writeByte(code);
    }

    static Reply read(ByteBuf in) {
      int code = in.readByte();
      for (Reply reply : values()) {
        if (reply.code == code) {
          return reply;
        }
      }
      return NOT_YET;
    }
  }

  /** What to do next. */
  enum Step {
    /** Start with the log that is there, or with an empty one. */
    START,
    /** Ask again. */
    WAIT,
    /** Never start: the log is lost. */
    LOG_LOST,
    /** Never start: the founders don't agree on who they are. */
    DISAGREEMENT
  }

  private static final String NOTE = "never-voted";
  private static final String JOINED = "joined";

  private final List<Peer> founders;
  private final Path directory;

  Founding(List<Peer> founders, Path directory) {
    this.founders = sorted(founders);
    this.directory = directory;
  }

  List<Peer> founders() {
    return founders;
  }

  /** Another founder asks. */
  Reply onProbe(List<Peer> itsFounders) {
    if (hasLog(directory)) {
      return Reply.FOUNDED;
    }
    if (!sorted(itsFounders).equals(founders)) {
      return Reply.OTHER_FOUNDERS;
    }
    return hasNote() ? Reply.READY : Reply.NOT_FOUNDED;
  }

  /**
   * What to do, given the answers of all other founders.
   *
   * @param replies one for each other founder; {@link Reply#NOT_YET} for one that can't be reached
   */
  Step next(List<Reply> replies) {
    if (hasLog(directory)) {
      return Step.START;
    }
    if (hasNote()) {
      // Once one has started, all were ready.
      boolean allReady = replies.stream().allMatch(reply -> reply == Reply.READY);
      return allReady || replies.contains(Reply.FOUNDED) ? Step.START : waitOrDisagree(replies);
    }
    if (replies.contains(Reply.FOUNDED)) {
      return Files.exists(directory.resolve(NOTE)) ? Step.START : Step.LOG_LOST;
    }
    boolean noneHasLog =
        replies.stream().allMatch(reply -> reply == Reply.NOT_FOUNDED || reply == Reply.READY);
    if (noneHasLog) {
      write(NOTE, "This member has never voted; it may start with an empty log.\n");
      return replies.isEmpty() ? Step.START : Step.WAIT;
    }
    return waitOrDisagree(replies);
  }

  private static Step waitOrDisagree(List<Reply> replies) {
    return replies.contains(Reply.OTHER_FOUNDERS) ? Step.DISAGREEMENT : Step.WAIT;
  }

  private boolean hasNote() {
    return Files.exists(directory.resolve(NOTE));
  }

  /** The log is there: if it gets lost from now on, the note must not speak for an empty one. */
  void started() throws IOException {
    Files.deleteIfExists(directory.resolve(NOTE));
  }

  /** Notes that this member was let in by a leader: it must never found a group. */
  void joining() {
    write(JOINED, "A leader has let this member in; its empty log had no vote.\n");
  }

  /** The members to start with: none for one that was let in, which hears of them. */
  List<Peer> initialMembers() {
    return Files.exists(directory.resolve(JOINED)) ? List.of() : founders;
  }

  /** Ratis keeps a directory for each group. */
  static boolean hasLog(Path directory) {
    try (var entries = Files.exists(directory) ? Files.list(directory) : null) {
      return entries != null && entries.anyMatch(Files::isDirectory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void write(String name, String text) {
    try {
      Files.createDirectories(directory);
      DurableFile.write(directory.resolve(name), text.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  ByteBuf writeMembers(ByteBuf out) {
    out.writeByte(founders.size());
    founders.forEach(peer -> Leading.write(out, peer));
    return out;
  }

  static List<Peer> readMembers(ByteBuf in) {
    int count = in.readByte();
    if (count < 0) {
      throw new IllegalArgumentException("There are no " + count + " founders.");
    }
    List<Peer> members = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      members.add(Leading.peer(in));
    }
    return members;
  }

  private static List<Peer> sorted(List<Peer> peers) {
    return peers.stream().sorted(Comparator.comparing(Peer::id)).toList();
  }
}
