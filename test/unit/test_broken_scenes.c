// Broken scenes and settings, each with the whole sentence that a user reads.
//
// In the table ' stands for " in the scene, ` for " in the sentence.
#include "rubato/scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SCENE(rest) "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'file': 'a.msh'}}], " rest "}"
#define BODY(rest)  "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'file': 'a.msh'}, " rest "}]}"

typedef struct broken {
    const char *name, *scene, *sentence;
} broken;

static const broken SCENES[] = {
    {"empty file", "", "s.json:1: not valid JSON: '[' or '{' expected near end of file"},
    {"not JSON", "hello", "s.json:1:5: not valid JSON: '[' or '{' expected near 'hello'"},
    {"text after the end", "{'rubato': 1} x", "s.json:1:15: not valid JSON: end of file expected near 'x'"},
    {"missing comma", "{'rubato': 1\n 'bodies': []}", "s.json:2:9: not valid JSON: '}' expected near '`bodies`'"},
    {"comma too many", "{'rubato': 1,\n 'bodies': [],}",
     "s.json:2:15: not valid JSON: string or '}' expected near '}'"},
    {"object not closed", "{'rubato': 1,\n 'bodies': [",
     "s.json:2:12: not valid JSON: ']' expected near end of file"},
    {"text not closed", "{'rubato': 1,\n 'about': 'x",
     "s.json:2:12: not valid JSON: premature end of input near '`x'"},
    {"key given twice", "{'rubato': 1,\n 'about': 'a',\n 'about': 'b'}",
     "s.json:3:8: not valid JSON: duplicate object key near '`about`'"},
    {"number too large", "{'rubato': 1,\n 'time': {'end': 1e999}}",
     "s.json:2:22: not valid JSON: real number overflow near '1e999'"},
    {"whole number too large", "{'rubato': 99999999999999999999}",
     "s.json:1:31: not valid JSON: too big integer near '99999999999999999999'"},
    {"a word that is no value", "{'rubato': 1, 'time': {'end': NaN}}",
     "s.json:1:33: not valid JSON: invalid token near 'NaN'"},
    {"broken UTF-8", "{'rubato': 1, 'about': '\xff'}",
     "s.json:1:24: not valid JSON: unable to decode byte 0xff near '`'"},
    {"a comment", "{'rubato': 1, // one\n 'bodies': []}",
     "s.json:1:15: not valid JSON: string or '}' expected near '/'"},
    {"a list", "[1, 2]", "s.json: an object is needed, found a list of 2"},
    {"no version", "{'bodies': []}",
     "s.json: the key `rubato` is missing; a scene says which version of the format it is written in: `rubato`: 1"},
    {"version of the future", "{'rubato': 2, 'newer': true}",
     "s.json: rubato: rubato 0.1.0 reads version 1 of the scene format, found 2"},
    {"version as text", "{'rubato': '1'}",
     "s.json: rubato: rubato 0.1.0 reads version 1 of the scene format, found the text `1`"},
    {"no bodies", "{'rubato': 1}", "s.json: the key `bodies` is missing"},
    {"bodies empty", "{'rubato': 1, 'bodies': []}", "s.json: bodies: needs at least one item"},
    {"bodies no list", "{'rubato': 1, 'bodies': {'name': 'a'}}", "s.json: bodies: a list is needed, found an object"},
    {"body no object", "{'rubato': 1, 'bodies': ['a']}",
     "s.json: bodies[0]: an object is needed, found the text `a`"},
    {"unknown key at the top", SCENE("'tiem': {}"), "s.json: unknown key `tiem`; did you mean `time`?"},
    {"unknown key far from all", SCENE("'xyzzyxyzzy': 1"),
     "s.json: unknown key `xyzzyxyzzy`; known are: $schema, rubato, about, bodies, forces, obstacles, contact, cuts, "
     "events, "
     "probes, "
     "time, goal, "
     "integrator, output"},
    {"about no text", SCENE("'about': 7"), "s.json: about: a text is needed, found 7"},
    {"body without name", "{'rubato': 1, 'bodies': [{'mesh': {'file': 'a.msh'}}]}",
     "s.json: bodies[0]: the key `name` is missing"},
    {"body without mesh", "{'rubato': 1, 'bodies': [{'name': 'a'}]}", "s.json: bodies[0]: the key `mesh` is missing"},
    {"empty name", "{'rubato': 1, 'bodies': [{'name': '', 'mesh': {'file': 'a.msh'}}]}",
     "s.json: bodies[0].name: must not be empty"},
    {"name twice",
     "{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'file': 'a'}}, {'name': 'a', 'mesh': {'file': 'b'}}]}",
     "s.json: bodies[1].name: `a` is already the name of bodies[0]"},
    {"mesh of nothing", "{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {}}]}",
     "s.json: bodies[0].mesh: exactly one of `file` and `shape` is needed, found none"},
    {"mesh of both", "{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'file': 'a.msh', 'shape': {'bar': {}}}}]}",
     "s.json: bodies[0].mesh: exactly one of `file` and `shape` is needed, found both"},
    {"unknown shape", "{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'shape': {'bra': {}}}}]}",
     "s.json: bodies[0].mesh.shape: unknown shape `bra`; did you mean `bar`?"},
    {"unit of a shape", "{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'shape': {'bar': {}}, 'unit': 'mm'}}]}",
     "s.json: bodies[0].mesh.unit: is for files; a generated shape is in metres, and `transform` can scale it"},
    {"unknown unit", "{'rubato': 1, 'bodies': [{'name': 'a', 'mesh': {'file': 'a.msh', 'unit': 'mmm'}}]}",
     "s.json: bodies[0].mesh.unit: unknown unit `mmm`; did you mean `mm`?"},
    {"young misspelt", BODY("'material': {'yuong': 1e5}"),
     "s.json: bodies[0].material: unknown key `yuong`; did you mean `young`?"},
    {"young negative", BODY("'material': {'young': -5}"),
     "s.json: bodies[0].material.young: must be above 0 Pa, found -5"},
    {"young zero", BODY("'material': {'young': 0}"), "s.json: bodies[0].material.young: must be above 0 Pa, found 0"},
    {"young as text", BODY("'material': {'young': 'soft'}"),
     "s.json: bodies[0].material.young: a number is needed, found the text `soft`"},
    {"young null", BODY("'material': {'young': null}"),
     "s.json: bodies[0].material.young: a number is needed, found null"},
    {"poisson at the limit", BODY("'material': {'poisson': 0.5}"),
     "s.json: bodies[0].material.poisson: must be above -1 and below 0.5, found 0.5"},
    {"poisson below", BODY("'material': {'poisson': -1.00000001}"),
     "s.json: bodies[0].material.poisson: must be above -1 and below 0.5, found -1.00000001"},
    {"density true", BODY("'material': {'density': true}"),
     "s.json: bodies[0].material.density: a number is needed, found true"},
    {"unknown material", BODY("'material': {'model': 'stable-neohookean'}"),
     "s.json: bodies[0].material.model: unknown model `stable-neohookean`; did you mean `stable-neo-hookean`?"},
    {"material as text", BODY("'material': 'rubber'"),
     "s.json: bodies[0].material: an object is needed, found the text `rubber`"},
    {"scale with a zero", BODY("'transform': {'scale': [1, 0, 1]}"),
     "s.json: bodies[0].transform.scale[1]: must not be 0"},
    {"scale of two", BODY("'transform': {'scale': [1, 2]}"),
     "s.json: bodies[0].transform.scale: a list of 3 numbers, or one number for all, is needed, found a list of 2"},
    {"translate of four", BODY("'transform': {'translate': [1, 2, 3, 4]}"),
     "s.json: bodies[0].transform.translate: a list of 3 numbers is needed, found a list of 4"},
    {"translate with a text", BODY("'transform': {'translate': [1, '2', 3]}"),
     "s.json: bodies[0].transform.translate[1]: a number is needed, found the text `2`"},
    {"translate as one number", BODY("'transform': {'translate': 1}"),
     "s.json: bodies[0].transform.translate: a list of 3 numbers is needed, found 1"},
    {"axis zero", BODY("'transform': {'axis': [0, 0, 0]}"),
     "s.json: bodies[0].transform.axis: must not be the zero vector"},
    {"region without where", BODY("'regions': [{'name': 'r'}]"),
     "s.json: bodies[0].regions[0]: the key `where` is missing"},
    {"region name twice", BODY("'regions': [{'name': 'r', 'where': 's'}, {'name': 'r', 'where': 't'}]"),
     "s.json: bodies[0].regions[1].name: `r` is already the name of regions[0]"},
    {"damping negative", BODY("'damping': {'stiffness': -0.1}"),
     "s.json: bodies[0].damping.stiffness: must be at least 0 s, found -0.1"},
    {"surface without file", BODY("'surface': {'unit': 'mm'}"),
     "s.json: bodies[0].surface: the key `file` is missing"},
    {"fixed no list", BODY("'fixed': 'left'"), "s.json: bodies[0].fixed: a list is needed, found the text `left`"},
    {"selection empty", BODY("'fixed': [{}]"),
     "s.json: bodies[0].fixed[0]: a selection is needed: an object with one key or a text, as {`box`: ...}, found no "
     "key"},
    {"selection of two", BODY("'fixed': [{'set': 'a', 'nodes': [1]}]"),
     "s.json: bodies[0].fixed[0]: a selection has exactly one key, found 2: `set` and `nodes`"},
    {"selection of three", BODY("'fixed': [{'set': 'a', 'nodes': [1], 'any': []}]"),
     "s.json: bodies[0].fixed[0]: a selection has exactly one key, found 3: `set` and `nodes`, ..."},
    {"selection a number", BODY("'fixed': ['left', 3]"),
     "s.json: bodies[0].fixed[1]: a selection is needed: an object with one key or a text, as {`box`: ...}, found 3"},
    {"unknown selection", BODY("'fixed': [{'bxo': {}}]"),
     "s.json: bodies[0].fixed[0]: unknown selection `bxo`; did you mean `box`?"},
    {"box upside down", BODY("'fixed': [{'box': {'min': [0, 0, 0], 'max': [1, -1, 1]}}]"),
     "s.json: bodies[0].fixed[0].box.max[1]: must be at least `min` (0), found -1"},
    {"sphere without radius", BODY("'fixed': [{'sphere': {'centre': [0, 0, 0]}}]"),
     "s.json: bodies[0].fixed[0].sphere: the key `radius` is missing"},
    {"plane without direction", BODY("'fixed': [{'plane': {'point': [0, 0, 0], 'normal': [0, 0, 0]}}]"),
     "s.json: bodies[0].fixed[0].plane.normal: must not be the zero vector"},
    {"node number negative", BODY("'fixed': [{'nodes': [3, -1]}]"),
     "s.json: bodies[0].fixed[0].nodes[1]: must be at least 0, found -1"},
    {"node number not whole", BODY("'fixed': [{'nodes': [0.5]}]"),
     "s.json: bodies[0].fixed[0].nodes[0]: a whole number is needed, found 0.5"},
    {"node number too large", BODY("'fixed': [{'nodes': [3000000000]}]"),
     "s.json: bodies[0].fixed[0].nodes[0]: must be at least -2147483648 and at most 2147483647, found 3000000000"},
    {"no node numbers", BODY("'fixed': [{'nodes': []}]"),
     "s.json: bodies[0].fixed[0].nodes: needs at least one item"},
    {"nearest none", BODY("'fixed': [{'nearest': {'point': [0, 0, 0], 'count': 0}}]"),
     "s.json: bodies[0].fixed[0].nearest.count: must be at least 1, found 0"},
    {"wrong inside all and not",
     BODY("'fixed': [{'all': ['a', {'not': {'sphere': {'centre': [0, 0, 0], 'radius': 0}}}]}]"),
     "s.json: bodies[0].fixed[0].all[1].not.sphere.radius: must be above 0 m, found 0"},
    {"empty set name", BODY("'fixed': ['']"), "s.json: bodies[0].fixed[0]: must not be empty"},
    {"selection name twice", BODY("'selections': [{'name': 's', 'where': 't'}, {'name': 's', 'where': 't'}]"),
     "s.json: bodies[0].selections[1].name: `s` is already the name of selections[0]"},
    {"selection called everything", BODY("'selections': [{'name': 'everything', 'where': 't'}]"),
     "s.json: bodies[0].selections[0].name: `everything` always stands for the whole body and cannot be given "
     "another meaning"},
    {"selection defined by itself",
     BODY("'selections': [{'name': 's', 'where': {'not': 't'}}, {'name': 't', 'where': {'any': ['u', 's']}}]"),
     "s.json: bodies[0].selections[0]: is defined by itself or stands for more than 1000 selections when names are "
     "followed"},
    {"driven without where", BODY("'driven': [{}]"), "s.json: bodies[0].driven[0]: the key `where` is missing"},
    {"release at zero", BODY("'driven': [{'where': 's', 'release': 0}]"),
     "s.json: bodies[0].driven[0].release: must be above 0 s, found 0"},
    {"release at a word", BODY("'driven': [{'where': 's', 'release': 'soon'}]"),
     "s.json: bodies[0].driven[0].release: a number or `never` is needed, found the text `soon`"},
    {"motion ends before it begins",
     BODY("'driven': [{'where': 's', 'motions': [{'velocity': {'velocity': [1, 0, 0], 'from': 2, 'until': 1}}]}]"),
     "s.json: bodies[0].driven[0].motions[0].velocity.until: must be at least `from` (2 s), found 1"},
    {"rotation without axis", BODY("'driven': [{'where': 's', 'motions': [{'rotation': {'rate': 1}}]}]"),
     "s.json: bodies[0].driven[0].motions[0].rotation: the key `axis` is missing"},
    {"oscillation without beat",
     BODY("'driven': [{'where': 's', 'motions': [{'oscillation': {'amplitude': [1, 0, 0], 'frequency': 0}}]}]"),
     "s.json: bodies[0].driven[0].motions[0].oscillation.frequency: must be above 0 Hz, found 0"},
    {"keyframes not ascending",
     BODY("'driven': [{'where': 's', 'motions': [{'keyframes': {'times': [0, 2, 2], 'offsets': [[0, 0, 0], [1, 0, "
          "0], [2, 0, 0]]}}]}]"),
     "s.json: bodies[0].driven[0].motions[0].keyframes.times[2]: must be above the time before it (2 s), found 2"},
    {"keyframes of different number",
     BODY("'driven': [{'where': 's', 'motions': [{'keyframes': {'times': [0, 1], 'offsets': [[0, 0, 0]]}}]}]"),
     "s.json: bodies[0].driven[0].motions[0].keyframes.offsets: needs one offset for each of the 2 times, found 1"},
    {"keyframe offset of two",
     BODY("'driven': [{'where': 's', 'motions': [{'keyframes': {'times': [0], 'offsets': [[0, 0]]}}]}]"),
     "s.json: bodies[0].driven[0].motions[0].keyframes.offsets[0]: a list of 3 numbers is needed, found a list of 2"},
    {"stretch to nothing", BODY("'deform': [{'stretch': {'axis': [1, 0, 0], 'factor': 0}}]"),
     "s.json: bodies[0].deform[0].stretch.factor: must be above 0, found 0"},
    {"bend along its axis", BODY("'deform': [{'bend': {'axis': [1, 0, 0], 'towards': [-2, 0, 0], 'degrees': 90}}]"),
     "s.json: bodies[0].deform[0].bend.towards: must not point along the axis"},
    {"velocity as a vector", BODY("'velocity': [1, 0, 0]"),
     "s.json: bodies[0].velocity: an object is needed, found a list of 3"},
    {"unknown force", SCENE("'forces': [{'gravitation': {}}]"),
     "s.json: forces[0]: unknown force `gravitation`; did you mean `gravity`?"},
    {"force without brackets", SCENE("'forces': ['gravity']"),
     "s.json: forces[0]: a force is needed: an object with one key, as {`gravity`: ...}, found the text `gravity`"},
    {"pull on nobody", SCENE("'forces': [{'pull': {'body': 'bra', 'where': 's', 'force': [1, 0, 0]}}]"),
     "s.json: forces[0].pull.body: there is no body `bra`; did you mean `bar`?"},
    {"pull on a stranger", SCENE("'forces': [{'pull': {'body': 'somebody', 'where': 's', 'force': [1, 0, 0]}}]"),
     "s.json: forces[0].pull.body: there is no body `somebody`"},
    {"pull backwards in time",
     SCENE("'forces': [{'pull': {'where': 's', 'force': [1, 0, 0], 'from': 0.5, 'until': 0.25}}]"),
     "s.json: forces[0].pull.until: must be at least `from` (0.5 s), found 0.25"},
    {"pulse without length", SCENE("'forces': [{'pulse': {'where': 's', 'peak': [1, 0, 0], 'duration': 0}}]"),
     "s.json: forces[0].pulse.duration: must be above 0 s, found 0"},
    {"wind without air", SCENE("'forces': [{'wind': {'velocity': [1, 0, 0], 'air_density': 0}}]"),
     "s.json: forces[0].wind.air_density: must be above 0 kg/m^3, found 0"},
    {"gusts too strong", SCENE("'forces': [{'wind': {'velocity': [1, 0, 0], 'gust': 11}}]"),
     "s.json: forces[0].wind.gust: must be at least 0 and at most 10, found 11"},
    {"box obstacle flat", SCENE("'obstacles': [{'box': {'min': [0, 0, 0], 'max': [1, 0, 1]}}]"),
     "s.json: obstacles[0].box.max[1]: must be above `min` (0), found 0"},
    {"sphere obstacle without radius", SCENE("'obstacles': [{'sphere': {}}]"),
     "s.json: obstacles[0].sphere: the key `radius` is missing"},
    {"step negative", SCENE("'time': {'step': -0.01}"), "s.json: time.step: must be above 0 s, found -0.01"},
    {"end negative", SCENE("'time': {'end': -1}"), "s.json: time.end: must be at least 0 s, found -1"},
    {"frame zero", SCENE("'time': {'frame': 0}"), "s.json: time.frame: must be above 0 s, found 0"},
    {"too many frames", SCENE("'time': {'frame': 1e-12}"),
     "s.json: time.frame: must be at least 4e-09 s, that is end / 1e+09, found 1e-12"},
    {"too many steps", SCENE("'time': {'step': 1e-15}"),
     "s.json: time.step: must be at least 4e-11 s, that is frame / 1e+09, found 1e-15"},
    {"unknown method", SCENE("'integrator': {'method': 'semi-implict'}"),
     "s.json: integrator.method: unknown method `semi-implict`; did you mean `semi-implicit`?"},
    {"solver where there is none", SCENE("'integrator': {'method': 'symplectic-euler', 'solver': 'cholesky'}"),
     "s.json: integrator.solver: method `symplectic-euler` has no solver `cholesky`; there is nothing to choose from "
     "here"},
    {"option where there is none", SCENE("'integrator': {'method': 'symplectic-euler', 'options': {'tolerance': 1}}"),
     "s.json: integrator.options: unknown key `tolerance`; there is nothing to choose from here"},
    {"too many cuts", SCENE("'integrator': {'max_halvings': 31}"),
     "s.json: integrator.max_halvings: must be at least 0 and at most 30, found 31"},
    {"cuts not whole", SCENE("'integrator': {'max_halvings': 1.5}"),
     "s.json: integrator.max_halvings: a whole number is needed, found 1.5"},
    {"folder empty", SCENE("'output': {'folder': ''}"), "s.json: output.folder: must not be empty"},
    {"vtu as a number", SCENE("'output': {'vtu': 1}"), "s.json: output.vtu: true or false is needed, found 1"},
    {"checkpoints negative", SCENE("'output': {'checkpoint_every': -1}"),
     "s.json: output.checkpoint_every: must be at least 0 frames, found -1"},
};

// Settings on a good scene
static const struct {
    const char *setting, *sentence;
} SETTINGS[] = {
    {"time.step", "s.json: the setting `time.step` is not of the form path=value, as bodies[0].material.young=1e6"},
    {"=1", "s.json: the setting `=1` is not of the form path=value, as bodies[0].material.young=1e6"},
    {".time=1", "s.json: the setting `.time=1` is not of the form path=value, as bodies[0].material.young=1e6"},
    {"bodies[=1", "s.json: the setting `bodies[=1` is not of the form path=value, as bodies[0].material.young=1e6"},
    {"bodies[x]=1",
     "s.json: the setting `bodies[x]=1` is not of the form path=value, as bodies[0].material.young=1e6"},
    {"bodies[0]name=1",
     "s.json: the setting `bodies[0]name=1` is not of the form path=value, as bodies[0].material.young=1e6"},
    {"time..step=1",
     "s.json: the setting `time..step=1` is not of the form path=value, as bodies[0].material.young=1e6"},
    {"tiem.step=1", "s.json: unknown key `tiem`; did you mean `time`?"},
    {"time.stp=1", "s.json: time: unknown key `stp`; did you mean `step`?"},
    {"time.step.more=1", "s.json: time.step: has no keys, so `more` cannot be set"},
    {"time[0]=1", "s.json: time: is no list, so item 0 cannot be set"},
    {"time.step[0]=1", "s.json: time.step: is no list, so item 0 cannot be set"},
    {"bodies[1].name=b", "s.json: bodies[1]: the key `mesh` is missing"},
    {"bodies[2].name=b", "s.json: bodies: has 1 items, so item 2 (counted from 0) cannot be set"},
    {"bodies[99999999999999999999].name=b",
     "s.json: bodies: has 1 items, so item 2147483647 (counted from 0) cannot be set"},
    {"bodies[0].transform.translate[3]=1",
     "s.json: bodies[0].transform.translate: has 3 items, so item 3 (counted from 0) cannot be set"},
    {"bodies[0].transform.translate[0]=far",
     "s.json: bodies[0].transform.translate[0]: a number is needed, found the text `far`"},
    {"bodies[0].mesh.shape.bra={}", "s.json: bodies[0].mesh.shape: unknown shape `bra`; did you mean `bar`?"},
    {"bodies[0].mesh.shape.bar={}",
     "s.json: bodies[0].mesh: exactly one of `file` and `shape` is needed, found both"},
    {"forces[0].wnid.velocity=1", "s.json: forces[0]: unknown force `wnid`; did you mean `wind`?"},
    {"integrator.method=semi", "s.json: integrator.method: unknown method `semi`; known are: "},
    {"time.step=-1", "s.json: time.step: must be above 0 s, found -1"},
    {"time.step=1e999", "s.json: time.step: a number or `auto` is needed, found the text `1e999`"},
    {"time={`step`: 1, `step`: 2}", "s.json: time: an object is needed, found the text `{`step`: 1, `step`: 2}`"},
    {"rubato=2", "s.json: rubato: must be exactly 1, found 2"},
};

static char *with_quotes(const char *text, char from) {
    char *copy = strdup(text);
    for (char *c = copy; *c; c++)
        if (*c == from) *c = '"';
    return copy;
}

// Says which one differs; a sentence that ends in ": " continues with names from tables of other rooms.
static void compare(const char *name, rbt_scene_file *file, const rbt_error *error, const char *sentence) {
    char text[2048];
    char *expected = with_quotes(sentence, '`');
    size_t length = strlen(expected), compared = expected[length - 1] == ' ' ? length : length + 1;
    if (file) fail_msg("%s: accepted", name);
    rbt_error_text(error, text, sizeof text);
    if (strncmp(text, expected, compared) != 0) fail_msg("%s:\n  expected %s\n  found    %s", name, expected, text);
    free(expected);
}

static void broken_scenes_get_their_sentence(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof SCENES / sizeof SCENES[0]; i++) {
        rbt_error error = {0};
        char *json = with_quotes(SCENES[i].scene, '\'');
        rbt_scene_file *file = rbt_scene_parse(json, strlen(json), "s.json", NULL, 0, &error);
        compare(SCENES[i].name, file, &error, SCENES[i].sentence);
        assert_null(rbt_scene_parse(json, strlen(json), "s.json", NULL, 0, NULL));
        free(json);
    }
}

static void broken_settings_get_their_sentence(void **state) {
    (void)state;
    char *json = with_quotes(SCENE("'about': 'good'"), '\'');
    for (size_t i = 0; i < sizeof SETTINGS / sizeof SETTINGS[0]; i++) {
        rbt_error error = {0};
        char *setting = with_quotes(SETTINGS[i].setting, '`');
        const char *settings[] = {setting};
        rbt_scene_file *file = rbt_scene_parse(json, strlen(json), "s.json", settings, 1, &error);
        compare(SETTINGS[i].setting, file, &error, SETTINGS[i].sentence);
        free(setting);
    }
    free(json);
}

// ---- What is too long for a table

static char *repeat(const char *begin, const char *opening, const char *middle, const char *closing, int count,
                    const char *end) {
    size_t room =
        strlen(begin) + strlen(middle) + strlen(end) + (size_t)count * (strlen(opening) + strlen(closing)) + 1;
    char *text = malloc(room), *at = stpcpy(text, begin);
    for (int i = 0; i < count; i++) at = stpcpy(at, opening);
    at = stpcpy(at, middle);
    for (int i = 0; i < count; i++) at = stpcpy(at, closing);
    stpcpy(at, end);
    return text;
}

static void expect(char *single_quoted, const char *name, const char *sentence) {
    rbt_error error = {0};
    char *json = with_quotes(single_quoted, '\'');
    rbt_scene_file *file = rbt_scene_parse(json, strlen(json), "s.json", NULL, 0, &error);
    compare(name, file, &error, sentence);
    free(json);
    free(single_quoted);
}

static void deep_nests_do_not_overflow(void **state) {
    (void)state;
    static const char begin[] = "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'file': 'a'}, 'fixed': [";
    char *fine = repeat(begin, "{'not': ", "'s'", "}", 30, "]}]}"), *json = with_quotes(fine, '\'');
    rbt_scene_file *file = rbt_scene_parse(json, strlen(json), "s.json", NULL, 0, NULL);
    assert_non_null(file);
    rbt_scene_free(file);
    free(fine);
    free(json);
    rbt_error error = {0};
    char *deep = repeat(begin, "{'not': ", "'s'", "}", 200, "]}]}");
    json = with_quotes(deep, '\'');
    assert_null(rbt_scene_parse(json, strlen(json), "s.json", NULL, 0, &error));
    assert_string_equal(error.message, "nested too deeply: at most 40 levels are allowed");
    free(deep);
    free(json);
    expect(repeat("", "[", "", "]", 100000, ""), "a hundred thousand brackets",
           "s.json:1:2049: not valid JSON: maximum parsing depth reached near '['");
}

static void deep_settings_do_not_overflow(void **state) {
    (void)state;
    rbt_error error = {0};
    char *json = with_quotes(SCENE("'about': 'good'"), '\'');
    char *setting = repeat("bodies[0].fixed[0]", ".not", "=s", "", 10000, "");
    const char *settings[] = {setting};
    assert_null(rbt_scene_parse(json, strlen(json), "s.json", settings, 1, &error));
    assert_string_equal(error.message, "the path of a setting is too long");
    free(setting);
    free(json);
}

// 300 named selections that each use the next one twice would stand for 2^300 others.
static void chains_of_names_end(void **state) {
    (void)state;
    char *text = malloc(100000), *at = text;
    at = stpcpy(at, "{'rubato': 1, 'bodies': [{'name': 'bar', 'mesh': {'file': 'a'}, 'selections': [");
    for (int i = 0; i < 300; i++)
        at += sprintf(at, "%s{'name': 's%d', 'where': {'any': ['s%d', 's%d']}}", i ? ", " : "", i, i + 1, i + 1);
    stpcpy(at, "]}]}");
    expect(text, "a doubling chain",
           "s.json: bodies[0].selections[0]: is defined by itself or stands for more than 1000 selections when names "
           "are followed");
}

static void long_words_are_shortened(void **state) {
    (void)state;
    expect(repeat("{'rubato': 1, '", "x\xc3\xa4", "", "", 300, "': 1}"), "a long key",
           "s.json: unknown key "
           "`x\xc3\xa4x\xc3\xa4x\xc3\xa4x\xc3\xa4x\xc3\xa4x\xc3\xa4x\xc3\xa4x\xc3\xa4x\xc3\xa4x\xc3\xa4x\xc3\xa4"
           "x\xc3\xa4x\xc3\xa4x\xc3\xa4x\xc3\xa4x\xc3\xa4...`; known are: $schema, rubato, about, bodies, forces, "
           "obstacles, contact, cuts, events, probes, time, goal, integrator, output");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_scenes_get_their_sentence),
        cmocka_unit_test(broken_settings_get_their_sentence),
        cmocka_unit_test(deep_nests_do_not_overflow),
        cmocka_unit_test(deep_settings_do_not_overflow),
        cmocka_unit_test(chains_of_names_end),
        cmocka_unit_test(long_words_are_shortened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
