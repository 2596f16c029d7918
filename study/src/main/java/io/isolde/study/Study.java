// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.metadata.NodeState;
import io.isolde.cluster.ToolException;
import io.isolde.staleness.ClusterDelays;
import io.isolde.staleness.CoordinatorChoice;
import io.isolde.staleness.DelayModel;
import io.isolde.staleness.Level;
import io.isolde.staleness.MeasuredLegs;
import io.isolde.staleness.Setting;
import io.isolde.study.Results.SettingResult;
import io.isolde.study.live.LiveCluster;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Runs a study: the six settings of the paper one after another, and churn if wanted. What is found
 * is saved after each, so that a study that was stopped goes on where it was.
 */
public final class Study {
  /** In the paper's order: strong ones, then weak ones. The names are for three replicas. */
  private static final Map<String, Setting> SETTINGS = new LinkedHashMap<>();

  static {
    SETTINGS.put("R1W3", new Setting(Level.ONE, Level.ALL));
    SETTINGS.put("R2W2", new Setting(Level.QUORUM, Level.QUORUM));
    SETTINGS.put("R3W1", new Setting(Level.ALL, Level.ONE));
    SETTINGS.put("R1W2", new Setting(Level.ONE, Level.QUORUM));
    SETTINGS.put("R2W1", new Setting(Level.QUORUM, Level.ONE));
    SETTINGS.put("R1W1", new Setting(Level.ONE, Level.ONE));
  }

  private static final int MAX_CHURN_EXTRA_SECONDS = 300;

  private final StudyOptions options;
  private final ResultsFile file;
  private final Path folder;
  private final Consumer<String> progress;

  /**
   * Prepares a study.
   *
   * @param folder for the cluster, the report and the JSON; it stays
   * @param progress is told in words what happens
   */
  public Study(StudyOptions options, Path folder, Consumer<String> progress) {
    this.options = options;
    this.folder = folder;
    this.file = new ResultsFile(folder, Descriptions.of(options));
    this.progress = progress;
  }

  /**
   * Runs what was not yet run.
   *
   * @return what was found
   * @throws ToolException if it is not possible, or breaks off; what was found until then is saved
   */
  public Results run() throws InterruptedException {
    Results results = file.load();
    long left = SETTINGS.keySet().stream().filter(name -> !file.has(results, name)).count();
    if (left == 0 && (!options.hasChurn() || results.churn() != null)) {
      progress.accept(
          "All of this study is done already, in %s; to repeat it, remove that, or name another (--folder)."
              .formatted(folder));
      return results;
    }
    try (StudyCluster cluster = StudyCluster.start(options, folder, progress);
        CqlSession writers = cluster.connect();
        CqlSession readers = cluster.connect()) {
      StudyTable.createKeyspace(writers);
      warmUp(writers, readers);
      Results found = measureSettings(results, writers, readers);
      return options.hasChurn() && found.churn() == null
          ? file.save(found, churn(cluster, writers, readers))
          : found;
    }
  }

  private void warmUp(CqlSession writers, CqlSession readers) throws InterruptedException {
    if (options.warmupSeconds() > 0) {
      Setting setting = new Setting(Level.QUORUM, Level.QUORUM);
      StudyTable table = StudyTable.create(writers, readers, "warmup", setting);
      load(table, writers, LoadTime.of(options.warmupSeconds()), "warming up");
    }
  }

  private Results measureSettings(Results results, CqlSession writers, CqlSession readers)
      throws InterruptedException {
    Results found = results;
    int number = 0;
    for (Map.Entry<String, Setting> each : SETTINGS.entrySet()) {
      number++;
      if (!file.has(found, each.getKey())) {
        String what = "%d of %d: %s".formatted(number, SETTINGS.size(), each.getValue());
        SettingResult result = measure(each.getKey(), each.getValue(), writers, readers, what);
        found = file.save(found, result);
        progress.accept(Descriptions.sentence(result));
      }
    }
    return found;
  }

  /**
   * Where no read can be stale, there is no curve to be measured, so a third of the time will do.
   */
  private int seconds(Setting setting) {
    int replicas = StudyOptions.REPLICAS;
    int overlap = needed(setting.read()) + needed(setting.write()) - replicas;
    return overlap > 0 ? Math.max(2, options.secondsPerSetting() / 3) : options.secondsPerSetting();
  }

  private static int needed(Level level) {
    int replicas = StudyOptions.REPLICAS;
    return level == Level.ONE ? 1 : level == Level.QUORUM ? replicas / 2 + 1 : replicas;
  }

  private SettingResult measure(
      String name, Setting setting, CqlSession writers, CqlSession readers, String what)
      throws InterruptedException {
    StudyTable table = StudyTable.create(writers, readers, "study", setting);
    Seen seen = load(table, writers, LoadTime.of(seconds(setting)), what);
    LiveCluster live = new LiveCluster(writers);
    MeasuredLegs legs =
        live.legs(table.name())
            .orElseThrow(
                () ->
                    new ToolException(
                        "The nodes have collected no delays. They need the plugin, and"
                            + " staleness_sample_one_in must not be 0."));
    DelayModel model =
        new ClusterDelays(live.topology(StudyTable.KEYSPACE), legs, CoordinatorChoice.ANY);
    return new Comparison(setting, seen, model, options.seed()).result(name);
  }

  private Churn.Timeline churn(StudyCluster cluster, CqlSession writers, CqlSession readers)
      throws InterruptedException {
    Setting setting = new Setting(Level.ONE, Level.ONE);
    StudyTable table = StudyTable.create(writers, readers, "churn", setting);
    int seconds = options.secondsPerSetting();
    Churn churn = Churn.of(cluster.local().orElseThrow(), cluster::createJoining, seconds);
    // Nodes take as long as they take, and what they do is to be seen under load.
    LoadTime time = new LoadTime(seconds, seconds + MAX_CHURN_EXTRA_SECONDS, churn::isDone);
    Seen seen;
    churn.begin();
    try {
      seen = load(table, writers, time, "churn: " + setting);
    } finally {
      churn.end();
    }
    return churn.timeline(seen);
  }

  private Seen load(StudyTable table, CqlSession session, LoadTime time, String what)
      throws InterruptedException {
    ProgressBar bar = new ProgressBar(what, time.seconds(), progress);
    return new Episodes(table, () -> upNodes(session), options, Episodes.Limits.USUAL)
        .run(time, bar::at);
  }

  private static List<Node> upNodes(CqlSession session) {
    List<Node> up =
        session.getMetadata().getNodes().values().stream()
            .filter(node -> node.getState() == NodeState.UP || node.getState() == NodeState.UNKNOWN)
            .toList();
    if (up.isEmpty()) {
      throw new ToolException("All nodes of the cluster are down.");
    }
    return up;
  }
}
