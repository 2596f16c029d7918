// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.staleness.Advisor;
import io.isolde.staleness.ClusterDelays;
import io.isolde.staleness.CoordinatorChoice;
import io.isolde.staleness.DelayModel;
import io.isolde.staleness.MeasuredLegs;
import io.isolde.staleness.Prediction;
import io.isolde.staleness.Predictor;
import io.isolde.staleness.ReadFanOut;
import io.isolde.staleness.Setting;
import io.isolde.staleness.Target;
import io.isolde.staleness.Topology;
import io.isolde.study.live.LiveCluster;
import java.io.PrintWriter;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.random.RandomGeneratorFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code isolde staleness}. */
@Command(
    name = "staleness",
    description = {
      "Predict how fresh reads of a table are at each pair of consistency levels, or advise which"
          + " to use.",
      "The prediction is made of the delays between the nodes of a running cluster."
          + " Numbers in brackets are 95%% intervals.",
      "Of a table of a strong keyspace it shows what its leaders measure of reads at ONE;"
          + " then options of the prediction are refused."
    })
final class StalenessCommand implements Runnable {
  private static final double MICROS = 1e3;
  private static final String TABLE_PATTERN = "\\w+\\.\\w+";

  @Mixin private Home home;
  @Mixin private NodeAccess access;
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "KEYSPACE.TABLE", description = "The table.")
  private String table;

  @Option(
      names = {"--t", "--after"},
      paramLabel = "TIME",
      defaultValue = "10ms",
      converter = MillisConverter.class,
      description = "How long after a write's answer the read begins.")
  private double afterMillis;

  @Option(
      names = "--p",
      paramLabel = "PROBABILITY",
      defaultValue = "0.999",
      description = "Show after what time reads are fresh with this probability.")
  private double probability;

  @Option(names = "--advise", description = "Name the cheapest levels that reach the target.")
  private boolean isAdviceWanted;

  @Option(
      names = "--fresh",
      paramLabel = "PERCENT",
      defaultValue = "99.9",
      description = "Target: so many percent of the reads see the write.")
  private double freshPercent;

  @Option(
      names = "--read-p99",
      paramLabel = "TIME",
      converter = MillisConverter.class,
      description = "Target: 99%% of the reads take no longer, at the coordinator.")
  private Double readP99Millis;

  @Option(
      names = "--write-p99",
      paramLabel = "TIME",
      converter = MillisConverter.class,
      description = "Target: 99%% of the writes take no longer, at the coordinator.")
  private Double writeP99Millis;

  @Option(
      names = "--reads",
      paramLabel = "PERCENT",
      defaultValue = "50",
      description = "So many percent of the requests are reads; what is cheapest depends on it.")
  private double readPercent;

  @Option(
      names = "--datacenter",
      paramLabel = "NAME",
      description = "Writers and readers are there. Default: wherever replicas are.")
  private String datacenter;

  @Option(
      names = "--coordinator",
      paramLabel = "WHICH",
      defaultValue = "replica",
      description = "replica: clients know tokens. any: they don't.")
  private String coordinator;

  @Option(
      names = "--trials",
      paramLabel = "N",
      defaultValue = "50000",
      description = "Writes and reads to simulate.")
  private int trials;

  @Override
  public void run() {
    Target target = target();
    CoordinatorChoice choice = choice();
    if (!table.matches(TABLE_PATTERN) || trials < 1 || trials > 10_000_000) {
      throw refused("Name a table as keyspace.table, and between 1 and 10000000 trials.");
    }
    if (!(probability >= 0 && probability <= 1 && readPercent >= 0 && readPercent <= 100)) {
      throw refused("--p is between 0 and 1, and --reads between 0 and 100.");
    }
    try (CqlSession session = access.openToAll(home)) {
      LiveCluster cluster = new LiveCluster(session);
      if (StrongStaleness.isStrong(session, keyspace())) {
        sayMeasured(cluster);
        return;
      }
      Topology topology = cluster.topology(keyspace());
      MeasuredLegs legs =
          cluster
              .legs(table)
              .orElseThrow(
                  () ->
                      new CommandFailedException(
                          ("No node has timed a message for %s. It needs some load from more than"
                                  + " one node, and staleness_sample_one_in must not be 0.")
                              .formatted(table)));
      DelayModel model =
          datacenter == null
              ? new ClusterDelays(topology, legs, choice)
              : new ClusterDelays(topology, legs, choice, datacenter);
      show(model, target);
    } catch (IllegalArgumentException e) {
      throw new CommandFailedException(e.getMessage(), e);
    }
  }

  private void sayMeasured(LiveCluster cluster) {
    StrongStaleness.refusal(keyspace(), spec.commandLine().getParseResult())
        .ifPresent(
            sentence -> {
              throw refused(sentence);
            });
    StrongStaleness.lines(keyspace(), cluster.followerStaleness(keyspace()))
        .forEach(line -> say("%s", line));
  }

  private String keyspace() {
    return table.substring(0, table.indexOf('.'));
  }

  private void show(DelayModel model, Target target) {
    Predictor predictor =
        new Predictor(
            model,
            ReadFanOut.PREFERRED,
            trials,
            () -> RandomGeneratorFactory.of("L64X128MixRandom").create(1));
    Map<Setting, Prediction> predictions =
        predictor.predict(Setting.all(model.replicasByDatacenter()));
    PredictionTable lines = new PredictionTable(predictor, predictions, afterMillis, probability);
    say(
        "%s: %d replicas, %d observations of the least known delay",
        table, model.replicas(), model.observations());
    if (isAdviceWanted) {
      advise(predictions, target, lines);
    } else {
      list(predictions.keySet(), lines);
    }
  }

  private void advise(Map<Setting, Prediction> predictions, Target target, PredictionTable lines) {
    Advisor.Advice advice = new Advisor(readPercent / 100).advise(predictions, target);
    say(
        "Target: %.5g%% fresh %.4g ms after a write%s%s; %.3g%% of the requests are reads.",
        freshPercent,
        afterMillis,
        readP99Millis == null ? "" : ", p99 of reads at most %.4g ms".formatted(readP99Millis),
        writeP99Millis == null ? "" : ", p99 of writes at most %.4g ms".formatted(writeP99Millis),
        readPercent);
    if (advice.meeting().isEmpty()) {
      say("No pair of levels is sure to reach it.");
    } else {
      say("Advice: %s.", advice.meeting().get(0));
      say("All that reach it, the cheapest first:");
      list(advice.meeting(), lines);
    }
    if (!advice.undecided().isEmpty()) {
      say("Perhaps, but there are too few observations, or clocks are too uncertain, to say:");
      list(advice.undecided(), lines);
    }
  }

  private void list(Collection<Setting> settings, PredictionTable lines) {
    lines.lines(settings).forEach(line -> say("%s", line));
  }

  private Target target() {
    try {
      return new Target(
          freshPercent / 100, afterMillis * MICROS, micros(readP99Millis), micros(writeP99Millis));
    } catch (IllegalArgumentException e) {
      throw refused(e.getMessage());
    }
  }

  private static OptionalDouble micros(Double millis) {
    return millis == null ? OptionalDouble.empty() : OptionalDouble.of(millis * MICROS);
  }

  private CoordinatorChoice choice() {
    try {
      return CoordinatorChoice.valueOf(coordinator.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw refused("--coordinator is replica or any, not \"%s\".".formatted(coordinator));
    }
  }

  private ParameterException refused(String sentence) {
    return new ParameterException(spec.commandLine(), sentence);
  }

  private void say(String format, Object... arguments) {
    PrintWriter out = spec.commandLine().getOut();
    out.println(String.format(Locale.ROOT, format, arguments).stripTrailing());
    out.flush();
  }
}
