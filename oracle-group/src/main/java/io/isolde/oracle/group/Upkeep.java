// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.Peer;
import io.isolde.raft.transport.LogLimit;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts this node's member as soon as it may, and once more when its log has failed: a full, slow
 * or broken disk may be well again later. Says what is in the way, at most once a minute if it is
 * the same. Unlike {@code GroupUpkeep} of strong keyspaces it looks after one member, and most of
 * what it does is to find out whether that may start.
 */
final class Upkeep implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(Upkeep.class);
  private static final long LOOK_MILLIS = 250;
  private static final long FIRST_BACK_OFF_MILLIS = 1_000;
  private static final long MAX_BACK_OFF_MILLIS = 60_000;

  private final OracleNode node;
  private final Bootstrap bootstrap;
  private final OtherMembers others;
  private final Peer self;
  private final LogLimit logLimit = new LogLimit();
  private long backOffMillis = FIRST_BACK_OFF_MILLIS;
  private long startedAtNanos;
  private volatile String problem;
  private volatile boolean isOut;
  private volatile boolean isClosed;

  Upkeep(OracleNode node, Bootstrap bootstrap, OtherMembers others, Peer self) {
    this.node = node;
    this.bootstrap = bootstrap;
    this.others = others;
    this.self = self;
  }

  /** Why this node is no member, though it should be; empty if all is well. */
  Optional<String> problem() {
    return Optional.ofNullable(problem);
  }

  /** This node is not to be a member, until it is told to. */
  void out() {
    isOut = true;
    problem = null;
  }

  /** It is looked again whether this node may be one. */
  void in() {
    isOut = false;
    problem = null;
  }

  @Override
  public void run() {
    while (!isClosed) {
      long pauseMillis = LOOK_MILLIS;
      try {
        pauseMillis = look();
      } catch (IOException | RuntimeException | Error e) {
        say("The oracle's member on this node could not start: " + message(e), e);
        pauseMillis = backOff();
      }
      try {
        Thread.sleep(pauseMillis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private static String message(Throwable e) {
    return e.getMessage() == null ? e.toString() : e.getMessage();
  }

  private long backOff() {
    long now = backOffMillis;
    backOffMillis = Math.min(2 * now, MAX_BACK_OFF_MILLIS);
    return now;
  }

  /** Returns when to look again. */
  private long look() throws IOException {
    Optional<OracleMember> member = node.member();
    if (member.isPresent()) {
      return look(member.get());
    }
    if (!isOut && (bootstrap.isInitialMember(self) || bootstrap.hasLog() || bootstrap.tookPart())) {
      take(bootstrap.next(others.probe(bootstrap, bootstrap.initialMembers())));
    }
    return LOOK_MILLIS;
  }

  private long look(OracleMember member) {
    Optional<String> failure = member.replica.failure();
    if (failure.isPresent()) {
      if (!node.stopFailed(member)) {
        return LOOK_MILLIS;
      }
      say("The oracle's member on this node has stopped, and starts again: " + failure.get(), null);
      return backOff();
    }
    problem = member.replica.problem().orElse(null);
    long runsForMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedAtNanos);
    if (runsForMillis > MAX_BACK_OFF_MILLIS) {
      backOffMillis = FIRST_BACK_OFF_MILLIS;
    }
    return LOOK_MILLIS;
  }

  private void take(Bootstrap.Step step) throws IOException {
    List<String> initialMembers = bootstrap.initialMembers().stream().map(Peer::id).toList();
    switch (step) {
      case START -> {
        startedAtNanos = System.nanoTime();
        node.startMember();
      }
      case LEFT -> out();
      case LOG_LOST -> {
        isOut = true;
        say(
            ("The oracle's group exists, but this node has no log of it: it is lost, or the node"
                    + " was removed. It must not vote as if nothing had happened. To take it in:"
                    + " ALTER ORACLE REMOVE '%s' if it is still a member, then ALTER ORACLE ADD"
                    + " '%s'.")
                .formatted(self.id(), self.id()),
            null);
      }
      case LOST ->
          say(
              "This node was a member of the oracle, and its log is gone. It does not found the"
                  + " oracle anew, which would forget commits. Put the log back, on as many nodes"
                  + " as you can, or start the nodes that have theirs. If it is gone on all nodes"
                  + " and that loss is accepted: ALTER ORACLE ACCEPT LOSS, on each of "
                  + initialMembers
                  + ".",
              null);
      case DISAGREEMENT ->
          say(
              "The members that found the oracle's group disagree about who they are; this node is"
                  + " told "
                  + initialMembers
                  + ". They must have the same setting; waiting.",
              null);
      case WAIT -> {
        String what = "Waiting for all initial members of the oracle's group: " + initialMembers;
        problem = what;
        if (logLimit.allows(what)) {
          log.info("{}", what);
        }
      }
    }
  }

  private void say(String what, Throwable why) {
    problem = what;
    if (logLimit.allows(what)) {
      log.error("{}", what, why instanceof IOException ? null : why);
    }
  }

  void close() {
    isClosed = true;
  }
}
