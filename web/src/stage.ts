// The space that runs are seen in: camera, light, ground; one or two views with the same camera.
import * as THREE from 'three';
import {OrbitControls} from 'three/examples/jsm/controls/OrbitControls.js';
import {Bodies} from './body';

export class View {
  readonly scene = new THREE.Scene();
  readonly sun = new THREE.DirectionalLight(0xffffff, 2.4);
  readonly sky = new THREE.HemisphereLight(0xffffff, 0x8c8478, 1.25);
  readonly ground = new THREE.Group();
  private plane = new THREE.Mesh(new THREE.CircleGeometry(1, 96), new THREE.MeshStandardMaterial({roughness: 1}));
  private grid: THREE.GridHelper | null = null;
  bodies: Bodies | null = null;

  constructor() {
    this.plane.rotation.x = -Math.PI / 2;
    this.plane.receiveShadow = true;
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.normalBias = 0.02;
    this.ground.add(this.plane);
    this.scene.add(this.sun, this.sun.target, this.sky, this.ground);
  }

  set(bodies: Bodies) {
    if (this.bodies) {
      this.scene.remove(this.bodies.group);
      this.bodies.dispose();
    }
    this.bodies = bodies;
    this.scene.add(bodies.group);
  }

  /** Light and ground for what lies within a ball */
  furnish(centre: THREE.Vector3, radius: number, floor: number, dark: boolean) {
    const {sun} = this, camera = sun.shadow.camera;
    this.scene.background = new THREE.Color(dark ? 0x1a1e24 : 0xe9edf2);
    this.sky.intensity = dark ? 0.95 : 1.25;
    sun.position.copy(centre).add(new THREE.Vector3(-0.55, 1.35, 0.85).multiplyScalar(2.2 * radius));
    sun.target.position.copy(centre);
    const reach = 1.6 * radius;
    camera.left = camera.bottom = -reach;
    camera.right = camera.top = reach;
    camera.near = 0.1 * radius;
    camera.far = 8 * radius;
    camera.updateProjectionMatrix();
    sun.shadow.normalBias = 0.01 * radius;
    this.plane.scale.setScalar(6 * radius);
    this.plane.position.set(centre.x, floor - 0.002 * radius, centre.z);
    (this.plane.material as THREE.MeshStandardMaterial).color.set(dark ? 0x3a414b : 0xdfe4ea);
    if (this.grid) {
      this.ground.remove(this.grid);
      this.grid.dispose();
    }
    const cell = 10 ** Math.floor(Math.log10(radius)) * (radius / 10 ** Math.floor(Math.log10(radius)) > 3 ? 1 : 0.5);
    const cells = 2 * Math.ceil((2 * radius) / cell);
    const line = dark ? 0x525b67 : 0xc3cbd5;
    this.grid = new THREE.GridHelper(cells * cell, cells, line, line);
    this.grid.position.set(Math.round(centre.x / cell) * cell, floor, Math.round(centre.z / cell) * cell);
    this.ground.add(this.grid);
  }
}

export class Stage {
  readonly renderer: THREE.WebGLRenderer;
  readonly camera = new THREE.PerspectiveCamera(32, 1, 0.01, 100);
  readonly controls: OrbitControls;
  readonly views: View[] = [new View()];
  private due = true;
  drawn = 0; // pictures so far
  onDrawn: () => void = () => {};

  constructor(readonly canvas: HTMLCanvasElement) {
    this.renderer = new THREE.WebGLRenderer({canvas, antialias: true, preserveDrawingBuffer: true});
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.renderer.localClippingEnabled = true;
    this.renderer.toneMapping = THREE.NoToneMapping;
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener('change', () => this.redraw());
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
    const loop = () => {
      requestAnimationFrame(loop);
      if (this.due) this.draw();
    };
    loop();
  }

  redraw() { this.due = true; }

  split(count: number) {
    while (this.views.length < count) this.views.push(new View());
    this.views.length = count;
    this.resize();
  }

  private resize() {
    const {clientWidth, clientHeight} = this.canvas.parentElement!;
    if (!clientWidth || !clientHeight) return;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.camera.aspect = clientWidth / this.views.length / clientHeight;
    this.camera.updateProjectionMatrix();
    this.redraw();
  }

  /** The camera at a distance from which a box is seen as a whole */
  fit(box: THREE.Box3, radius: number, direction?: THREE.Vector3) {
    const half = (this.camera.fov * Math.PI) / 360, wide = Math.atan(Math.tan(half) * this.camera.aspect);
    const from = direction ?? this.camera.position.clone().sub(this.controls.target).normalize();
    this.camera.near = radius / 100;
    this.camera.far = radius * 60;
    const centre = box.isEmpty() ? new THREE.Vector3() : box.getCenter(new THREE.Vector3());
    const right = new THREE.Vector3(0, 1, 0).cross(from).normalize(), up = from.clone().cross(right);
    let away = 0;
    for (let i = 0; i < 8; i++) {
      const corner = new THREE.Vector3(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y,
        i & 4 ? box.max.z : box.min.z).sub(centre);
      away = Math.max(away, corner.dot(from) + Math.abs(corner.dot(up)) / Math.tan(half),
        corner.dot(from) + Math.abs(corner.dot(right)) / Math.tan(wide));
    }
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).addScaledVector(from, 1.06 * away || 3);
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.redraw();
  }

  draw() {
    this.due = false;
    const {width, height} = this.renderer.getSize(new THREE.Vector2()), each = width / this.views.length;
    this.renderer.setScissorTest(true);
    this.views.forEach((view, i) => {
      this.renderer.setViewport(i * each, 0, each, height);
      this.renderer.setScissor(i * each, 0, each, height);
      this.renderer.render(view.scene, this.camera);
    });
    this.drawn++;
    this.onDrawn();
  }

  /** The view and the ray under a place of the canvas [pixels] */
  ray(x: number, y: number): {view: number; ray: THREE.Ray} {
    const {clientWidth, clientHeight} = this.canvas, each = clientWidth / this.views.length;
    const view = Math.min(this.views.length - 1, Math.max(0, Math.floor(x / each)));
    const caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2(((x - view * each) / each) * 2 - 1, 1 - (y / clientHeight) * 2), this.camera);
    return {view, ray: caster.ray};
  }

  /** Where a point is on the canvas [pixels] */
  place(point: THREE.Vector3, view = 0): [number, number] {
    const {clientWidth, clientHeight} = this.canvas, each = clientWidth / this.views.length;
    const p = point.clone().project(this.camera);
    return [((p.x + 1) / 2) * each + view * each, ((1 - p.y) / 2) * clientHeight];
  }
}
