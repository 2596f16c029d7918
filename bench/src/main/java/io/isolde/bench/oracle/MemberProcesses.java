// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.oracle;

import io.isolde.bench.kit.Pause;
import io.isolde.bench.nodes.ChildProcess;
import io.isolde.bench.nodes.TemporaryFolder;
import io.isolde.raft.Peer;
import java.util.ArrayList;
import java.util.List;

/** The members of an oracle's group, each a process and an address of its own. */
public final class MemberProcesses implements AutoCloseable {
  private static final int PATIENCE_SECONDS = 60;

  private final boolean isSynced;
  private final TemporaryFolder folder = new TemporaryFolder("members");
  private final List<Peer> peers = new ArrayList<>();
  private final List<ChildProcess> processes = new ArrayList<>();

  /**
   * Starts them; they serve a few seconds later.
   *
   * @param isSynced whether a commit counts only when it is on disk
   */
  public MemberProcesses(int count, boolean isSynced) {
    this.isSynced = isSynced;
    for (int number = 1; number <= count; number++) {
      peers.add(new Peer("member" + number, ChildProcess.freeAddress("127.0.0." + number)));
    }
    peers.forEach(peer -> processes.add(launch(peer)));
  }

  private ChildProcess launch(Peer peer) {
    List<String> arguments = new ArrayList<>();
    arguments.add(folder.path().resolve(peer.id()).toString());
    arguments.add(Boolean.toString(isSynced));
    arguments.add(peer.id());
    peers.forEach(each -> arguments.add(MemberMain.argument(each)));
    return ChildProcess.startHere(
        peer.id(), MemberMain.class, folder.path().resolve(peer.id() + ".log"), arguments);
  }

  /** Returns their addresses. */
  public List<Peer> peers() {
    return peers;
  }

  /** Returns the processes, in the order of {@link #peers}. */
  public List<ChildProcess> processes() {
    return processes;
  }

  /** Returns the process of a member. */
  public ChildProcess process(Peer peer) {
    return processes.get(peers.indexOf(peer));
  }

  /** The member that leads, as soon as there is one. */
  public Peer leader() {
    Pause.until("a member leads", PATIENCE_SECONDS, () -> peers.stream().anyMatch(this::leads));
    return peers.stream().filter(this::leads).findFirst().orElseGet(this::leader);
  }

  private boolean leads(Peer peer) {
    return process(peer).ask(MemberMain.SERVING) == 1;
  }

  /** The term that most of the members are in, or will be. */
  public long term() {
    return processes.stream().mapToLong(each -> each.ask(MemberMain.TERM)).max().orElseThrow();
  }

  /** Waits until all members have applied what one of them has applied by now. */
  public void awaitAllCaughtUp() {
    long last =
        processes.stream().mapToLong(each -> each.ask(MemberMain.APPLIED)).max().orElseThrow();
    Pause.until(
        "all members have caught up",
        PATIENCE_SECONDS,
        () -> processes.stream().allMatch(each -> each.ask(MemberMain.APPLIED) >= last));
  }

  /** Starts a member that was killed. */
  public void restart(Peer peer) {
    processes.set(peers.indexOf(peer), launch(peer));
  }

  @Override
  public void close() {
    processes.forEach(ChildProcess::close);
    folder.close();
  }
}
