// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import com.google.common.util.concurrent.Uninterruptibles;
import io.isolde.group.GroupClient;
import io.isolde.group.Layout;
import io.isolde.group.Rebalancing;
import io.isolde.peers.WorkLease;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.Peer;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.cassandra.gms.FailureDetector;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What has to be asked of nodes when a replica moves. Each step may be asked for again. */
final class MoveSteps {
  private static final Logger logger = LoggerFactory.getLogger(MoveSteps.class);
  private static final long LIMIT_MILLIS = TimeUnit.HOURS.toMillis(1);
  private static final int PAUSES_OF_A_TRY = 20;

  /** Between two tries the lease is renewed. */
  private static final long MAX_TRY_MILLIS = 20_000;

  private final GroupHost host;
  private final long tryMillis;
  private final WorkLease lease;

  /**
   * Steps of moves of replicas that run on a host.
   *
   * @param lease keeps other nodes from moving them meanwhile
   */
  MoveSteps(GroupHost host, WorkLease lease) {
    this.host = host;
    this.tryMillis = Math.min(host.tryMillis(), MAX_TRY_MILLIS);
    this.lease = lease;
  }

  /** One try of a step. */
  private interface Step<T> {
    CompletableFuture<T> ask() throws IOException;
  }

  /**
   * The members that a group has, whatever the layout says.
   *
   * @param nodes all that may know, should nobody be left whom the layout names
   * @throws IOException if no leader says so, or while they are being changed
   */
  List<Peer> members(GroupClient.Target target, List<Layout.Member> nodes) throws IOException {
    Set<Peer> asked = new LinkedHashSet<>(target.members());
    nodes.forEach(node -> asked.add(StrongKeyspace.peer(node, host.port())));
    var all = new GroupClient.Target(target.group(), List.copyOf(asked));
    try {
      return once(() -> host.started().membership().members(all));
    } catch (ExecutionException e) {
      throw new IOException(e.getCause().getMessage(), e);
    } catch (TimeoutException e) {
      throw new IOException("Its leader does not say who its members are.", e);
    }
  }

  /**
   * Lets a member lead a group.
   *
   * @param address of the member
   * @return whether it does
   * @throws IOException if another node may be moving leaders by now
   */
  boolean lead(GroupClient client, GroupClient.Target target, String address) throws IOException {
    lease.renew();
    try {
      var unused = once(() -> client.lead(target, address));
      return true;
    } catch (ExecutionException | TimeoutException e) {
      logger.info("{} could not take over group {}: {}", address, target.group(), e.toString());
      return false;
    }
  }

  /**
   * Changes the members of a group: one goes, or one comes, or one comes in the place of another.
   * Returns when who comes has caught up, and who goes is no member any more.
   *
   * @throws IOException if the leader refuses, if the new one goes down, or if it has not caught up
   *     within an hour; it may then be begun again
   */
  void carryOut(StrongKeyspace keyspace, Rebalancing.Change change) throws IOException {
    Layout.Group group = keyspace.layout().groups().get(change.group());
    if (change instanceof Rebalancing.Departure departure) {
      dismiss(keyspace, group, departure.from());
    } else if (change instanceof Rebalancing.Arrival arrival) {
      String what =
          "Group %d has no replica on %s yet".formatted(group.number(), arrival.to().address());
      come(
          what,
          keyspace,
          group,
          arrival.to(),
          (target, peer) -> host.started().membership().takeIn(target, peer));
    } else if (change instanceof Rebalancing.Move move) {
      String what =
          "The replica of group %d has not moved from %s to %s"
              .formatted(group.number(), move.from().address(), move.to().address());
      come(
          what,
          keyspace,
          group,
          move.to(),
          (target, peer) ->
              host.started().membership().replace(target, move.from().id(), Optional.of(peer)));
    }
  }

  /** Asks a group's leader to take a node in that has opened its replica. */
  private interface TakingIn {
    CompletableFuture<Void> ask(GroupClient.Target target, Peer next) throws IOException;
  }

  private void come(
      String otherwise,
      StrongKeyspace keyspace,
      Layout.Group group,
      Layout.Member next,
      TakingIn takingIn)
      throws IOException {
    GroupClient.Target target = keyspace.target(group);
    Peer peer = StrongKeyspace.peer(next, host.port());
    UUID id = UUID.randomUUID();
    Optional<Layout.Member> needed = Optional.of(next);
    untilDone(
        otherwise, needed, () -> host.started().membership().askToJoin(target.group(), id, peer));
    untilDone(otherwise, needed, () -> takingIn.ask(target, peer));
  }

  /**
   * Waits for a while until nothing speaks against a step.
   *
   * @param problem what does; empty if nothing
   * @throws IOException if it still does
   */
  void await(Supplier<Optional<String>> problem) throws IOException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(MAX_TRY_MILLIS);
    Optional<String> now = problem.get();
    while (now.isPresent() && System.nanoTime() < deadline) {
      lease.renew();
      Uninterruptibles.sleepUninterruptibly(tryMillis / PAUSES_OF_A_TRY, TimeUnit.MILLISECONDS);
      now = problem.get();
    }
    if (now.isPresent()) {
      throw new IOException(now.get());
    }
  }

  /** Lets a member go, and nobody comes in its place. */
  void dismiss(StrongKeyspace keyspace, Layout.Group group, Layout.Member member)
      throws IOException {
    GroupClient.Target target = keyspace.target(group);
    untilDone(
        "Group %d still has the member %s".formatted(group.number(), member.address()),
        Optional.empty(),
        () -> host.started().membership().replace(target, member.id(), Optional.empty()));
  }

  /**
   * Has the schema say what has changed.
   *
   * @throws IOException if the nodes do not agree on the schema before
   */
  void note(StrongKeyspace keyspace, Rebalancing.Change change) throws IOException {
    LayoutNotes.write(keyspace, change, lease);
  }

  /**
   * Has the schema say what is wanted from now on.
   *
   * @param options all that the replication of the keyspace is to have, but for its layout
   * @throws IOException as {@link #note}
   */
  void want(StrongKeyspace keyspace, Map<String, String> options) throws IOException {
    LayoutNotes.want(keyspace, options, lease);
  }

  private void untilDone(String otherwise, Optional<Layout.Member> needed, Step<Void> step)
      throws IOException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LIMIT_MILLIS);
    while (true) {
      lease.renew();
      try {
        var unused = once(step);
        return;
      } catch (ExecutionException | TimeoutException e) {
        logger.debug("{}", otherwise, e);
        if (isRefused(e)
            || !needed.map(MoveSteps::isUp).orElse(true)
            || System.nanoTime() > deadline) {
          throw new IOException(otherwise + ": " + e, e);
        }
      }
      Uninterruptibles.sleepUninterruptibly(tryMillis / PAUSES_OF_A_TRY, TimeUnit.MILLISECONDS);
    }
  }

  static boolean isUp(Layout.Member node) {
    return FailureDetector.instance.isAlive(ReplicatedLogStrategy.address(node));
  }

  private <T> T once(Step<T> step) throws IOException, ExecutionException, TimeoutException {
    try {
      return step.ask().get(tryMillis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  private static boolean isRefused(Exception failure) {
    return failure.getCause() instanceof GroupFailure known
        && known.reason() == GroupFailure.Reason.REFUSED;
  }
}
