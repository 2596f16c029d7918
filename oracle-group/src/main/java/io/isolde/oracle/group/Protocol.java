// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.netty.buffer.ByteBuf;
import java.util.List;

/**
 * What goes over the wire between a coordinator and a member, after the transport's own header. A
 * request is one byte for what is asked and its arguments; a response is one byte for how it went
 * and a result.
 */
final class Protocol {
  /** The oracle's requests among those of the node's port. */
  static final byte SERVICE = 1;

  /** Who leads? Arguments: none. Result: see {@link Leading}. Every member answers. */
  static final byte WHO_LEADS = 1;

  /** Start timestamp. Arguments: none. Result: {@link Stable}. */
  static final byte BEGIN = 2;

  /** Arguments: a command. Result: its answer, once it is durable. */
  static final byte EXECUTE = 3;

  /**
   * A commit is applied; the leader knows it then, the log a little later. Arguments: long. Result:
   * {@link Stable}, as soon as that reaches the commit, or a little later anyway: then ask with
   * {@link #AWAIT_STABLE}.
   */
  static final byte APPLIED = 4;

  /**
   * Arguments: long. Result: {@link Stable}, as soon as that reaches it, or a little later anyway.
   */
  static final byte AWAIT_STABLE = 5;

  /**
   * A coordinator lives. Arguments: session, oldest start, and commits that are applied though the
   * log may not know it, as {@link Wire#write(ByteBuf, List)} has them. Result: see {@link
   * Renewed}.
   */
  static final byte RENEW = 6;

  /** Arguments: transaction id. Result: a byte, 1 if decided, and then an answer. */
  static final byte OUTCOME = 7;

  /** Arguments: none. Result: see {@link OracleStatus}. */
  static final byte STATUS = 8;

  /** Changes the members or the leader. Arguments: see {@link MemberChange}. Result: none. */
  static final byte CHANGE = 9;

  /**
   * Is the group founded yet? Arguments: the initial members. Result: see {@link Bootstrap.Reply}.
   */
  static final byte FOUND = 10;

  /**
   * Start timestamp, unless a transaction is decided already. Arguments: its id. Result: {@link
   * Stable}, {@link #DECIDED} if it is decided.
   */
  static final byte BEGIN_UNDECIDED = 11;

  /**
   * The commits in doubt. Arguments: the epoch that is known, and the one that a leader must have
   * reached. Result: see {@link InDoubtMessage}.
   */
  static final byte IN_DOUBT = 12;

  /** As {@link #APPLIED}, but answered only when the log knows it, too. */
  static final byte LOG_APPLIED = 13;

  /** What the log says is stable. Arguments: none. Result: {@link Stable}. */
  static final byte LOGGED = 14;

  /**
   * Writes of commits that were decided lately. Arguments: see {@link LostWrites.Question}. Result:
   * see {@link LostWrites.Page}.
   */
  static final byte LOST_WRITES = 15;

  /**
   * As {@link #EXECUTE}, of a commit, which the leader's node is to apply, too, if it has the time.
   * Result: {@link Stable} if it has, then of a moment after that, else {@link Stable#NOT_KNOWN};
   * and the answer.
   */
  static final byte EXECUTE_AND_APPLY = 16;

  /**
   * A part of the configuration, or of its history. Arguments: {@link ConfigurationQuestion}. Any
   * member answers that has the version asked for. Result: {@link
   * ConfigurationQuestion.ConfigurationPage}, or {@link ConfigurationChanges}.
   */
  static final byte CONFIGURATION = 17;

  /** A result of {@link #BEGIN_UNDECIDED} that is no timestamp. */
  static final long DECIDED = -1;

  static final byte OK = 0;

  /** Nothing was done here: ask another member. Result: {@link Leading}. */
  static final byte NOT_LEADER = 1;

  /** Nothing was done: the member has more to do than it may have. */
  static final byte OVERLOADED = 2;

  /** Nothing was done, and asking again will not help. Result: a sentence. */
  static final byte REFUSED = 3;

  private Protocol() {}
}
