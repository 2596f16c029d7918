// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.apply.LeaderApplier;
import io.isolde.apply.OutboundQueues;
import io.isolde.apply.Recovery;
import io.isolde.apply.StrongTables;
import io.isolde.apply.TableStores;
import io.isolde.config.IsoldeConfig;
import io.isolde.configuration.ConfigurationReporter;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.install.TestedVersion;
import io.isolde.operations.NodeParts;
import io.isolde.operations.Operations;
import io.isolde.oracle.group.CommitApplier;
import io.isolde.peers.EveryNode;
import io.isolde.peers.NodePort;
import io.isolde.push.PushNode;
import io.isolde.replicated.OracleHost;
import io.isolde.replicated.ReplicatedOracle;
import io.isolde.replication.AutomaticRebalance;
import io.isolde.replication.GroupWatches;
import io.isolde.replication.LedGroups;
import io.isolde.replication.StrongByName;
import io.isolde.replication.StrongKeyspaces;
import io.isolde.replication.TransactionsOnGroups;
import io.isolde.restart.Restart;
import io.isolde.rowlock.RowLocks;
import io.isolde.snapshot.node.SnapshotNode;
import io.isolde.snapshot.read.SnapshotTransactions;
import io.isolde.transaction.Coordinator;
import io.isolde.transaction.barrier.ClusterBarrier;
import io.isolde.transaction.barrier.TableBarrier;
import io.isolde.watch.Watches;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.gms.Gossiper;
import org.apache.cassandra.service.StorageService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Puts the parts of Isolde in this process together. */
final class NodeStart implements NodeParts {
  private static final Logger logger = LoggerFactory.getLogger(NodeStart.class);

  private static final long LOOK_MILLIS = 100;
  private static final long TRY_AGAIN_MILLIS = 5_000;
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final IsoldeConfig config;
  private final EveryNode everyNode;
  private final StrongByName strongByName;
  private final ClusterBarrier barrier;
  private final StrongKeyspaces strong;
  private final LaterAnswers laterAnswers;
  private final Operations operations;
  private final Restart restart;
  private final LazyCoordinator coordinator = new LazyCoordinator(this::start);

  private final Watches watches;
  private final ChangeSources changeSources;
  private final RowLocks locks;
  private final PushNode push;

  private final SnapshotNode snapshots;
  private final SnapshotTransactions snapshotTransactions;

  private volatile OracleHost host;
  private volatile Throwable hostFailure;
  private volatile OutboundQueues queues = OutboundQueues.none();

  NodeStart(
      IsoldeConfig config,
      TableBarrier barrier,
      StrongKeyspaces strong,
      PreparedControlStatements control) {
    this.config = config;
    this.everyNode = new EveryNode(this::port, config.strong().keyspaces());
    this.strongByName = new StrongByName(config.strong().keyspaces(), everyNode);
    this.restart = Restart.begin();
    this.barrier = new ClusterBarrier(barrier, everyNode, this::port, restart::secure);
    this.watches = new Watches(this::oracleHost, barrier);
    this.locks = new RowLocks(this::oracleHost);
    this.changeSources = new ChangeSources(watches, new GroupWatches(strong, barrier));
    this.push = new PushNode(config.push(), new PushedWatches(changeSources), this::port);
    this.strong = strong;
    this.laterAnswers = new LaterAnswers(strong, control);
    this.operations = new Operations(config);
    this.snapshots = new SnapshotNode(config.snapshots(), this::port);
    this.snapshotTransactions =
        new SnapshotTransactions(config.transactions(), () -> System.nanoTime() / NANOS_PER_MILLI);
  }

  @Override
  public SnapshotNode snapshots() {
    return snapshots;
  }

  @Override
  public Restart restart() {
    return restart;
  }

  ChangeSources changeSources() {
    return changeSources;
  }

  EveryNode everyNode() {
    return everyNode;
  }

  StrongByName strongByName() {
    return strongByName;
  }

  SnapshotTransactions snapshotTransactions() {
    return snapshotTransactions;
  }

  LazyCoordinator coordinator() {
    return coordinator;
  }

  @Override
  public Optional<Coordinator> startedCoordinator() {
    return coordinator.ifStarted();
  }

  @Override
  public StrongKeyspaces strongKeyspaces() {
    return strong;
  }

  @Override
  public RowLocks rowLocks() {
    return locks;
  }

  @Override
  public PushNode push() {
    return push;
  }

  @Override
  public long unanswered() {
    return laterAnswers.unanswered();
  }

  private Optional<NodePort> port() {
    return Optional.ofNullable(host);
  }

  @Override
  public Optional<OracleHost> oracleHost() {
    return Optional.ofNullable(host);
  }

  /**
   * Shows operators this node, starts the oracle's part of it as soon as Cassandra is ready for it,
   * and then the coordinator: also a node without clients must know which old versions are still
   * needed.
   */
  NodeStart inBackground() {
    TestedVersion.logIfAnother();
    operations.show(this);
    TableStores.watchMessages();
    Thread thread = new Thread(this::run, "isolde-start");
    thread.setDaemon(true);
    thread.start();
    return this;
  }

  private void run() {
    try {
      while (!Gossiper.instance.isEnabled()) {
        Thread.sleep(LOOK_MILLIS);
      }
      startHost(); // First: what a dead process has left is finished before clients come.
      everyNode.serve();
      strongByName.follow();
      barrier.serve();
      watches.serve();
      locks.serve();
      queues = OutboundQueues.open(host);
      startStrongKeyspaces();
      startRecovery();
      startConfiguration();
      restart.recover(host, new TransactionsOnGroups(strong));
      while (!StorageService.instance.isNativeTransportRunning()) {
        Thread.sleep(LOOK_MILLIS);
      }
      laterAnswers.install();
      push.start();
      StorageService.instance.addPreShutdownHook(push::drain);
      snapshots.start();
      while (!isStarted()) {
        Thread.sleep(TRY_AGAIN_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isStarted() {
    try {
      var unused = coordinator.get();
      return true;
    } catch (RuntimeException e) {
      return false; // and said why
    }
  }

  private void startStrongKeyspaces() {
    strong.start();
    long calmMillis = config.strong().rebalanceAfterMillis();
    if (calmMillis > 0) {
      AutomaticRebalance started =
          AutomaticRebalance.start(strong, everyNode.newNames(), calmMillis);
      StorageService.instance.addPreShutdownHook(started::close);
    }
    StorageService.instance.addPreShutdownHook(strong::close);
  }

  /** Once this node knows the ring, so that it can write to all replicas. */
  private void startRecovery() throws InterruptedException {
    while (!StorageService.instance.isNormal()) {
      Thread.sleep(LOOK_MILLIS);
    }
    StrongTables tables = new TransactionsOnGroups(strong);
    Recovery.start(
        host.node()::unfinished,
        tables,
        new ReplicatedOracle(host.client(), host.session(), host.node()::applied));
    host.node().applyWith(new LeaderApplier(tables, queues));
    // While a node drains, the oracle may lead there for some seconds more.
    StorageService.instance.addPreShutdownHook(() -> host.node().applyWith(CommitApplier.NONE));
  }

  private void startConfiguration() {
    ConfigurationReporter reporter = new ConfigurationReporter(host, new LedGroups(strong));
    reporter.start();
    StorageService.instance.addPreShutdownHook(reporter::close);
  }

  private void startHost() throws InterruptedException {
    while (host == null) {
      try {
        OracleHost started = OracleHost.start(config);
        host = started;
        StorageService.instance.addPostShutdownHook(started::close);
      } catch (IOException | RuntimeException e) {
        hostFailure = e;
        logger.error("The oracle can't start on this node; trying again.", e);
        Thread.sleep(TRY_AGAIN_MILLIS);
      }
    }
  }

  private Coordinator start() {
    StrongTables tables = new TransactionsOnGroups(strong);
    OracleHost ready = awaitSession();
    ReplicatedOracle oracle =
        new ReplicatedOracle(ready.client(), ready.session(), ready.node()::applied);
    return Coordinator.start(
        config.transactions(),
        barrier,
        tables,
        oracle,
        queues,
        locks,
        oracle,
        operations.listener());
  }

  private OracleHost awaitSession() {
    long deadline =
        System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.oracle().timeoutMillis());
    while (host == null || !host.session().isOpen()) {
      if (System.nanoTime() - deadline > 0) {
        throw IsoldeException.of(
            ErrorCode.ORACLE_UNAVAILABLE,
            hostFailure != null && host == null
                ? "The oracle can't start on this node: " + hostFailure.getMessage()
                : "No leader of the oracle answers yet. A majority of its members must be up; where"
                    + " there has never been a leader, all that found it (oracle_members, or the"
                    + " seeds). isolde.oracle shows them.");
      }
      try {
        Thread.sleep(LOOK_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("This node stops.", e);
      }
    }
    return host;
  }
}
