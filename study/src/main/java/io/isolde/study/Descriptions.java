// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import io.isolde.cluster.Distribution;
import io.isolde.study.Results.SettingResult;
import java.util.LinkedHashMap;
import java.util.Map;

/** What was studied and found, in words. */
final class Descriptions {
  private Descriptions() {}

  static Map<String, String> of(StudyOptions options) {
    Map<String, String> description = new LinkedHashMap<>();
    if (options.running().isPresent()) {
      description.put("cluster", "at " + options.running().get().contactPoint());
    } else {
      description.put("nodes", Integer.toString(options.nodes()));
      description.put("heap", options.heapMegabytes() + " MB");
      description.put("cassandra", Distribution.ofSystemProperties().cassandraVersion());
      description.put("distances", options.profile().name());
      description.put(
          "delays", options.profile().distances().strip().replaceAll("\\s*\\n\\s*", "; "));
    }
    description.put("replicas", Integer.toString(StudyOptions.REPLICAS));
    description.put("seconds per setting", Integer.toString(options.secondsPerSetting()));
    description.put(
        "load",
        "%d rows/s, each written once, one in %d of them %d times, and read %d times within %d ms"
            .formatted(
                options.episodesPerSecond(),
                Episodes.SEVERAL_VERSIONS_ONE_IN,
                Episodes.VERSIONS,
                Episodes.READS,
                options.maxAfterMillis()));
    description.put("cores", Integer.toString(Runtime.getRuntime().availableProcessors()));
    return description;
  }

  static String sentence(SettingResult result) {
    return "  %s: read p50 %.1f ms, write p50 %.1f ms, %d of %d reads stale, RMSE %.2f points%s%s"
        .formatted(
            result.name(),
            result.read().p50(),
            result.write().p50(),
            result.staleReads(),
            result.reads(),
            100 * result.rmse(),
            result.errors() == 0
                ? ""
                : ", %d errors (%s)".formatted(result.errors(), result.firstError()),
            result.rowsLeftOut() == 0
                ? ""
                : ", %d rows not measured".formatted(result.rowsLeftOut()));
  }
}
