// SPDX-License-Identifier: Apache-2.0
package io.isolde.config;

import io.isolde.config.IsoldeConfig.ConfigurationException;
import io.isolde.group.HandOverPolicy;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.cassandra.config.DataStorageSpec;
import org.apache.cassandra.config.DurationSpec;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/** Reads {@code isolde.yaml}. Sizes and durations are written as in {@code cassandra.yaml}. */
final class IsoldeYaml {
  /** What the file says and has not been asked for yet. */
  private final Map<String, Object> settings;

  private IsoldeYaml(Map<String, Object> settings) {
    this.settings = settings;
  }

  /**
   * Reads the file.
   *
   * @param location a path or a file: URI; null for the defaults
   */
  static IsoldeConfig load(String location) {
    if (location == null) {
      return parse("");
    }
    Path path = location.startsWith("file:") ? Path.of(URI.create(location)) : Path.of(location);
    try {
      return parse(Files.readString(path));
    } catch (IOException e) {
      throw new ConfigurationException("The file " + path + " cannot be read: " + e + ".");
    }
  }

  static IsoldeConfig parse(String yaml) {
    return parse(yaml, HeapBudget.ofThisNode());
  }

  /**
   * Parses a file.
   *
   * @param heap what some defaults come from
   */
  static IsoldeConfig parse(String yaml, HeapBudget heap) {
    IsoldeYaml file = new IsoldeYaml(settings(yaml));
    String policy = file.oneOf("leadership_policy", "off", "least-loaded", "random", "round-robin");
    IsoldeConfig config =
        new IsoldeConfig(
            file.bytes("version_store_size", heap.versionBytes()),
            file.micros("version_retention", "10s"),
            file.bytes("replaced_sstables_size", 10L << 30),
            file.count("max_open_transactions", 10_000),
            file.millis("transaction_max_age", "5m"),
            file.millis("transaction_max_idle", "60s"),
            file.bytes("transaction_max_write_size", 4L << 20),
            file.count("transaction_max_reads", 100_000),
            file.millis("commit_timeout", "10s"),
            file.count("oracle_max_rows", heap.oracleRows()),
            file.count("oracle_max_pending_commits", 10_000),
            file.count("oracle_max_outcomes", heap.oracleOutcomes()),
            file.micros("oracle_outcome_retention", "24h"),
            file.list("oracle_members"),
            file.count("oracle_port", 7311),
            file.text("oracle_directory", "isolde-oracle"),
            file.choice("oracle_log_sync", "always", "os"),
            file.millis("coordinator_lease", "2s"),
            file.millis("oracle_timeout", "5s"),
            file.count("strong_port", 7312),
            file.text("strong_directory", "isolde-groups"),
            file.bytes("strong_log_size", 256L << 20),
            file.millis("strong_timeout", "5s"),
            file.choice("strong_reads", "lease", "read_index"),
            !policy.equals("off"),
            file.leadership(policy),
            file.count("conflict_log_size", 1000),
            file.micros("timestamp_reservation", "2s"),
            file.micros("max_timestamp_lead", "60s"),
            file.millis("snapshot_timeout", "10m"),
            file.millis("snapshot_gate_limit", "2s"),
            file.count("snapshot_max_overlap", 8),
            file.count("staleness_sample_one_in", 64),
            file.millis("staleness_half_life", "5m"),
            file.count("staleness_max_tables", 50));
    if (!file.settings.isEmpty()) {
      throw new ConfigurationException(
          "There is no setting named "
              + file.settings.keySet().iterator().next()
              + "; correct or remove its line.");
    }
    return config;
  }

  private static Map<String, Object> settings(String yaml) {
    Object root;
    try {
      root = new Yaml(new SafeConstructor(new LoaderOptions())).load(yaml);
    } catch (YAMLException e) {
      throw new ConfigurationException("The file is not YAML: " + e.getMessage() + ".");
    }
    Map<String, Object> settings = new LinkedHashMap<>();
    if (root == null) {
      return settings;
    }
    if (!(root instanceof Map<?, ?> map)) {
      throw new ConfigurationException("The file must consist of lines like 'setting: value'.");
    }
    map.forEach((name, value) -> settings.put(String.valueOf(name), value));
    return settings;
  }

  private long bytes(String name, long byDefault) {
    return value(
        name, byDefault, "a size like 64MiB", v -> new DataStorageSpec.LongBytesBound(v).toBytes());
  }

  private long millis(String name, String byDefault) {
    return value(name, duration(byDefault), "a duration like 30s", IsoldeYaml::duration);
  }

  private long micros(String name, String byDefault) {
    return 1000 * millis(name, byDefault);
  }

  private static long duration(String value) {
    return new DurationSpec.LongMillisecondsBound(value).toMilliseconds();
  }

  private int count(String name, int byDefault) {
    return value(name, byDefault, "a whole number", Integer::parseInt);
  }

  /** Whether the setting has its first value, which is the default, and not the second. */
  private boolean choice(String name, String byDefault, String other) {
    return value(
        name,
        true,
        "either " + byDefault + " or " + other,
        v -> {
          if (!v.equals(byDefault) && !v.equals(other)) {
            throw new IllegalArgumentException(v);
          }
          return v.equals(byDefault);
        });
  }

  private HandOverPolicy.Rules leadership(String policy) {
    return new HandOverPolicy.Rules(
        switch (policy) {
          case "random" -> HandOverPolicy.Choice.RANDOM;
          case "round-robin" -> HandOverPolicy.Choice.ROUND_ROBIN;
          default -> HandOverPolicy.Choice.LEAST_LOADED;
        },
        bytes("leadership_threshold", 64L << 20),
        millis("leadership_back_off", "10s"),
        count("leadership_max_per_minute", 6),
        millis("leadership_wait", "60s"),
        !choice("leadership_dry_run", "false", "true"));
  }

  /** One of some words, of which the first is the default. */
  private String oneOf(String name, String... words) {
    return value(
        name,
        words[0],
        "one of " + String.join(", ", words),
        v -> {
          String word = v.equals("false") ? "off" : v; // YAML takes a bare off for false.
          if (!Arrays.asList(words).contains(word)) {
            throw new IllegalArgumentException(v);
          }
          return word;
        });
  }

  private String text(String name, String byDefault) {
    return value(name, byDefault, "a text", v -> v);
  }

  private List<String> list(String name) {
    return value(name, List.of(), "a list like a, b, c", IsoldeYaml::parts);
  }

  private static List<String> parts(String value) {
    List<String> parts =
        Arrays.stream(value.replaceAll("[\\[\\]]", "").split(","))
            .map(String::strip)
            .filter(part -> !part.isEmpty())
            .toList();
    if (parts.isEmpty() && !value.equals("[]")) {
      throw new IllegalArgumentException("an empty list says nothing");
    }
    return parts;
  }

  private <T> T value(String name, T byDefault, String kind, Function<String, T> parse) {
    Object value = settings.remove(name);
    if (value == null) {
      return byDefault;
    }
    try {
      return parse.apply(String.valueOf(value));
    } catch (RuntimeException e) {
      throw new ConfigurationException(name + " must be " + kind + ", not '" + value + "'.");
    }
  }
}
