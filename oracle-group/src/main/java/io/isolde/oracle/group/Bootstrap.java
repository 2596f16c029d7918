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
import java.util.UUID;

/**
 * Decides when a member that has no log may start with an empty one.
 *
 * <p>A member that lost its disk must not: it may have voted, and taken part in decisions, of which
 * it no longer knows. From the inside it looks like one that never started. So the initial members
 * ask one another first, in two steps. Who hears from all others that they have no log either
 * writes that down: there is no group yet, so it can't have voted. Who hears from all others that
 * they have written it down starts. Who has neither a log nor that note, and hears that the group
 * exists, has lost its disk, or was removed.
 *
 * <p>Groups of strong keyspaces need none of these steps ({@code ReplicaNotes}). Their first
 * members stand in a schema that all nodes agree on, and each notes that it has a log.
 */
final class Bootstrap {
  /** What an initial member answers to another. */
  enum Reply {
    /** It has no log. */
    NOT_FOUNDED(1),
    /** It has a log. */
    FOUNDED(2),
    /** It is not ready to tell. */
    NOT_YET(3),
    /** It is configured with other initial members. */
    OTHER_INITIAL_MEMBERS(4),
    /** It has no log, and knows that there was no group when it noted that. */
    READY(5),
    /** It was a member, and its log is gone. */
    LOST(6);

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
    /** Never start: the group exists, and the log is lost. */
    LOG_LOST,
    /** Don't start: the log is lost, and nobody says that the group still exists. */
    LOST,
    /** Don't start: this node was removed. */
    LEFT,
    /** Never start: the initial members don't agree on who they are. */
    DISAGREEMENT
  }

  private static final String NOTE = "never-voted";
  private static final String JOINED = "joined";
  private static final String MEMBER = "member";
  private static final String LEFT = "left";

  private final List<Peer> initialMembers;
  private final Path directory;

  /** In the directory, in which other things may be, too: {@code lost+found}, say. */
  private final Path log;

  /**
   * Says, in another directory than the log, that there was one: whoever deletes the logs of all
   * members must not make them found the group anew, as if nothing had ever been committed.
   */
  private final Path record;

  Bootstrap(UUID group, List<Peer> initialMembers, OracleFiles files) {
    this.initialMembers = sorted(initialMembers);
    this.directory = files.log();
    this.log = directory.resolve(group.toString());
    this.record = files.record();
  }

  List<Peer> initialMembers() {
    return initialMembers;
  }

  /** Another initial member asks. */
  Reply onProbe(List<Peer> itsInitialMembers) {
    if (hasLog()) {
      return Reply.FOUNDED;
    }
    if (tookPart()) {
      return Reply.LOST;
    }
    if (!sorted(itsInitialMembers).equals(initialMembers)) {
      return Reply.OTHER_INITIAL_MEMBERS;
    }
    return hasNote() ? Reply.READY : Reply.NOT_FOUNDED;
  }

  /**
   * What to do, given the answers of all other initial members.
   *
   * @param replies one for each other initial member; {@link Reply#NOT_YET} for one that can't be
   *     reached
   */
  Step next(List<Reply> replies) {
    if (hasLog()) {
      return Step.START;
    }
    if (tookPart()) {
      return lost(replies);
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

  private Step lost(List<Reply> replies) {
    if (recorded().startsWith(LEFT)) {
      return Step.LEFT;
    }
    return replies.contains(Reply.FOUNDED) ? Step.LOG_LOST : Step.LOST;
  }

  private static Step waitOrDisagree(List<Reply> replies) {
    return replies.contains(Reply.OTHER_INITIAL_MEMBERS) ? Step.DISAGREEMENT : Step.WAIT;
  }

  private boolean hasNote() {
    return Files.exists(directory.resolve(NOTE));
  }

  /** The log is there: if it gets lost from now on, the note must not speak for an empty one. */
  void started() throws IOException {
    record(MEMBER);
    DurableFile.delete(directory.resolve(NOTE));
  }

  /** Whether this node ever had a log, as far as it was not told to forget that. */
  boolean tookPart() {
    return Files.exists(record);
  }

  /** This node was removed: it has no log, which is no loss. */
  void left() throws IOException {
    if (tookPart()) {
      record(LEFT);
    }
  }

  /** An operator says that what was committed may be gone. */
  void acceptLoss() throws IOException {
    DurableFile.delete(record);
  }

  private String recorded() {
    try {
      return Files.readString(record);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void record(String state) throws IOException {
    if (!tookPart() || !recorded().startsWith(state)) {
      Files.createDirectories(record.toAbsolutePath().getParent());
      String text =
          state + "\nThis node has had a log of the oracle; without it, it does not start.\n";
      DurableFile.write(record, text.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** Notes that this member was let in by a leader: it must never found a group. */
  void joining() {
    write(JOINED, "A leader has let this member in; its empty log had no vote.\n");
  }

  /** The members to start with: none for one that was let in, which hears of them. */
  List<Peer> membersToStart() {
    return Files.exists(directory.resolve(JOINED)) ? List.of() : initialMembers;
  }

  boolean isInitialMember(Peer self) {
    return initialMembers.stream().anyMatch(peer -> peer.id().equals(self.id()));
  }

  boolean hasLog() {
    return Files.isDirectory(log);
  }

  /** Deletes the log, and what is noted beside it. */
  void deleteLog() throws IOException {
    if (hasLog()) {
      DurableFile.deleteTree(log);
    }
    DurableFile.delete(directory.resolve(NOTE));
    DurableFile.delete(directory.resolve(JOINED));
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
    out.writeByte(initialMembers.size());
    initialMembers.forEach(peer -> Leading.write(out, peer));
    return out;
  }

  static List<Peer> readMembers(ByteBuf in) {
    int count = in.readByte();
    if (count < 0) {
      throw new IllegalArgumentException("There are no " + count + " initial members.");
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
