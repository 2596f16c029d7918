// SPDX-License-Identifier: Apache-2.0
package io.isolde.configuration;

import io.isolde.oracle.configuration.Configuration;
import io.isolde.oracle.configuration.ConfigurationReport;
import io.isolde.oracle.configuration.Effect;
import io.isolde.oracle.configuration.NodeInfo;
import io.isolde.oracle.group.ConfigurationChanges;
import io.isolde.oracle.group.Generations;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.peers.Ring;
import io.isolde.raft.Daemons;
import io.isolde.raft.transport.LogLimit;
import io.isolde.replicated.OracleHost;
import io.isolde.replication.LedGroups;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the configuration true as far as this node is responsible: reports itself when it starts,
 * and a group as soon as it leads it. The first living node also reports what is gone.
 *
 * <p>One thread looks at this node's own state. It asks the oracle only when that has changed, and
 * once a minute, for what was changed since: a report that got lost is found so. Nothing waits for
 * it.
 */
public final class ConfigurationReporter implements AutoCloseable {
  private static final Logger logger = LoggerFactory.getLogger(ConfigurationReporter.class);
  private static final long LOOK_MILLIS = 200;
  private static final long COMPARE_MILLIS = 60_000;

  /** Of each so many comparisons one reads all: the oracle may have been lost, and made anew. */
  private static final int COMPARISONS_FOR_ALL = 10;

  /** Schemas and rings spread; the next look comes after this. */
  private static final long LOOK_AGAIN_MILLIS = 5_000;

  private static final long MIN_BACK_OFF_MILLIS = 500;
  private static final long MAX_BACK_OFF_MILLIS = 30_000;

  /** Reports that are under way at once. */
  private static final int MAX_REPORTS = 256;

  private final OracleHost oracle;
  private final LedGroups groups;
  private final LogLimit logLimit = new LogLimit();
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(Daemons.named("isolde-configuration"));

  // All below belongs to the thread.

  /** As it was read last. */
  private Configuration known = Configuration.EMPTY;

  /** What was compared with it; null before the first time. */
  private Seen compared;

  private final Missing missing = new Missing();
  private boolean hasRegistered;
  private int comparisons;
  private long generation;
  private long dueNanos = System.nanoTime();
  private long backOffMillis;

  /**
   * This node's own state.
   *
   * @param terms of the groups that it leads
   */
  private record Seen(long ringVersion, UUID schemaVersion, NodeInfo self, Map<UUID, Long> terms) {}

  public ConfigurationReporter(OracleHost oracle, LedGroups groups) {
    this.oracle = oracle;
    this.groups = groups;
  }

  public void start() {
    var unused = thread.scheduleWithFixedDelay(this::look, 0, LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private Seen see() {
    return new Seen(Ring.version(), groups.schemaVersion(), ThisNode.info(), groups.terms());
  }

  private void look() {
    try {
      boolean isDue = System.nanoTime() - dueNanos >= 0;
      if (ThisNode.isInRing() && (isDue || (backOffMillis == 0 && !see().equals(compared)))) {
        long nextMillis = report(see());
        backOffMillis = 0;
        dueNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(nextMillis);
      }
    } catch (ExecutionException | RuntimeException | Error e) { // Else it would be the last look.
      missing.forget();
      backOffMillis =
          Math.min(Math.max(2 * backOffMillis, MIN_BACK_OFF_MILLIS), MAX_BACK_OFF_MILLIS);
      dueNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(backOffMillis);
      if (logLimit.allows("failed")) {
        logger.info(
            "The configuration of the cluster does not have this node's news yet; tried again", e);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns after what time the next comparison is due. */
  private long report(Seen now) throws ExecutionException, InterruptedException {
    read();
    Differences differences = new Differences(known);
    boolean isMissing = Ring.isFirstLiving() && reportGone(differences, now.self);
    if (!isMissing) {
      missing.forget();
    }
    List<ConfigurationReport> reports = new ArrayList<>();
    if (hasRegistered) {
      differences.ofNode(now.self, this::nextGeneration).ifPresent(reports::add);
    } else {
      // Also if all is known: it fences reports of an earlier process that come late.
      reports.add(new ConfigurationReport.RegisterNode(now.self, nextGeneration()));
    }
    reports.addAll(
        differences.ofGroups(
            now.self.host(), now.terms, new GroupInfos(groups, logLimit), this::nextGeneration));
    boolean isToRepeat = send(reports);
    // What this node has learned of the schema may be behind the version of the schema.
    boolean isNew = compared == null || !compared.schemaVersion.equals(now.schemaVersion);
    hasRegistered = true;
    compared = now;
    return isMissing || isToRepeat || isNew ? LOOK_AGAIN_MILLIS : COMPARE_MILLIS;
  }

  /** Returns whether something is missing that is not reported yet. */
  private boolean reportGone(Differences differences, NodeInfo self)
      throws ExecutionException, InterruptedException {
    Set<UUID> missingNow =
        differences.missing(
            host -> Ring.isMember(host) || host.equals(self.host()), groups.known());
    Set<UUID> gone = missing.gone(missingNow, System.nanoTime());
    var unused = send(differences.ofGone(gone));
    return gone.size() < missingNow.size();
  }

  private void read() throws ExecutionException, InterruptedException {
    comparisons++;
    if (known.version() > 0 && comparisons % COMPARISONS_FOR_ALL != 0) {
      ConfigurationChanges changes = oracle.client().configurationChanges(known.version()).get();
      Optional<Configuration> next = next(changes);
      if (next.isPresent()) {
        known = next.get();
        return;
      }
    }
    known = oracle.client().configuration().get();
  }

  /** Empty if the changes don't follow what is known. */
  private Optional<Configuration> next(ConfigurationChanges changes) {
    if (!changes.isWhole() || changes.version() < known.version()) {
      return Optional.empty();
    }
    try {
      return Optional.of(known.with(changes.changes()));
    } catch (IllegalArgumentException e) { // They are of an oracle that was made anew.
      return Optional.empty();
    }
  }

  /**
   * Many at once, so that they share entries of the log.
   *
   * @return whether to look again soon: something was changed meanwhile
   */
  private boolean send(List<ConfigurationReport> reports)
      throws ExecutionException, InterruptedException {
    boolean isToRepeat = false;
    for (int from = 0; from < reports.size(); from += MAX_REPORTS) {
      List<CompletableFuture<Answer>> answers = new ArrayList<>();
      for (ConfigurationReport report :
          reports.subList(from, Math.min(from + MAX_REPORTS, reports.size()))) {
        answers.add(oracle.client().execute(new Command.Configure(report)));
      }
      for (CompletableFuture<Answer> answer : answers) {
        isToRepeat |= answer.get() instanceof Answer.Configured done && isToRepeat(done);
      }
    }
    return isToRepeat;
  }

  private boolean isToRepeat(Answer.Configured answer) {
    if (answer.effect() == Effect.FULL && logLimit.allows("full")) {
      logger.error(
          "The configuration of the cluster has no room for what this node reports. Drop strong"
              + " keyspaces that are not needed, or make them with fewer groups.");
    }
    boolean wasAhead = answer.generation() > generation; // Its clock, or that of another leader.
    generation = Math.max(generation, answer.generation());
    return answer.effect() == Effect.NO_SUCH_GROUP
        || (answer.effect() == Effect.SUPERSEDED && wasAhead);
  }

  /** Above that of every report before, also of processes before, as far as clocks are right. */
  private long nextGeneration() {
    generation = Math.max(generation + 1, Generations.ofNow());
    return generation;
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
